//! What a model is asked, and in which form it answers.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Place, model, pets, small};
use pmm::table::Data;
use serde_json::{Value, json};

fn table() -> pmm::table::Model {
    pmm::open(model()).unwrap().into_table().unwrap()
}

#[test]
fn rows_are_the_librarys_in_every_format() {
    let place = Place::with_model();
    let ask = |accept: &str| {
        let body = json!({ "count": 50, "seed": 7 }).to_string();
        place.send("POST", "/v1/models/pets/sample", &[("accept", accept)], body.as_bytes()).ok()
    };
    let json = ask("application/json");
    assert_eq!(json.header("pmm-seed").as_deref(), Some("7"));
    let rows = json.json();
    assert_eq!((&rows["seed"], rows["rows"].as_array().unwrap().len()), (&json!(7), 50));
    let csv = ask("text/csv");
    assert_eq!(csv.header("content-type").as_deref(), Some("text/csv"));
    let lines: Vec<String> = csv.text().lines().map(str::to_owned).collect();
    assert_eq!((lines.len(), lines[0].as_str()), (51, "kind,legs,weight"));
    for (line, row) in lines[1..].iter().zip(rows["rows"].as_array().unwrap()) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0], row[0].as_str().unwrap_or(""));
        assert_eq!(cells[2].parse::<f64>().ok(), row[2].as_f64());
    }
    // The typed formats are read again by the library, which scores them as it scores the rows of CSV.
    let scores = |bytes: Vec<u8>| -> Vec<f64> {
        table().score(Data::from_csv(bytes)).rows().unwrap().map(|row| row.unwrap().log_likelihood).collect()
    };
    let of_csv = scores(csv.body);
    for accept in ["application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"] {
        let reply = ask(accept);
        assert_eq!(reply.header("content-type").as_deref(), Some(accept));
        assert_eq!(scores(reply.body), of_csv, "{accept}");
    }
    place.send("POST", "/v1/models/pets/sample", &[("accept", "image/webp")], b"{}").refused(406);
    let again = ask("application/json");
    assert_eq!(again.body, json.body, "a seed fixes everything");
    let two =
        place.post("/v1/models/pets/sample", &json!({ "count": 10, "seed": 7, "first_row": 20 })).ok().json();
    assert_eq!(two["rows"].as_array().unwrap()[..], rows["rows"].as_array().unwrap()[20..30]);
    let none = place.post("/v1/models/pets/sample", &json!({ "count": 0 })).ok().json();
    assert_eq!((&none["rows"], none["columns"].as_array().unwrap().len()), (&json!([]), 3));
}

#[test]
fn what_is_given_is_kept_and_what_cannot_be_is_refused_with_column_and_value() {
    let place = Place::with_model();
    let ask = |given: Value| place.post("/v1/models/pets/sample", &json!({ "count": 40, "given": given }));
    let rows = ask(json!({ "kind": "cat", "weight": { "from": 4.1, "to": 4.6 } })).ok().json();
    for row in rows["rows"].as_array().unwrap() {
        assert_eq!(row[0], "cat");
        let weight = row[2].as_f64().unwrap();
        assert!((4.1..=4.6).contains(&weight), "{weight}");
    }
    let rows = ask(json!({ "kind": ["cat", "bird"], "legs": 2 })).ok().json();
    assert!(rows["rows"].as_array().unwrap().iter().all(|row| row[0] != "dog" && row[1] == 2));
    let problem = ask(json!({ "kind": "horse" })).refused(422);
    assert_eq!((&problem["column"], &problem["value"]), (&json!("kind"), &json!("horse")));
    assert!(problem["remedy"].is_string());
    assert_eq!(ask(json!({ "colour": "red" })).refused(422)["column"], "colour");
    ask(json!({ "weight": { "from": 5, "to": 1 } })).refused(422);
    ask(json!({ "weight": { "form": 5 } })).refused(400);
    place.post("/v1/models/pets/sample", &json!({ "beginning": "Once" })).refused(422);
    place.post("/v1/models/pets/sample", &json!({ "cuont": 3 })).refused(400);
    place.send("POST", "/v1/models/pets/sample", &[], b"{ not json").refused(400);
    place.post("/v1/models/nobody/sample", &json!({})).refused(404);
    place.post("/v1/models/pets/infill", &json!({ "text": "a ____" })).refused(409);
}

#[test]
fn rows_of_a_client_are_filled_predicted_and_scored_as_by_the_library() {
    let place = Place::with_model();
    let rows = "kind,legs,weight\ncat,4,\n,2,0.31\ndog,4,21\n";
    let ask =
        |path: &str, body: &str| place.send("POST", path, &[("content-type", "text/csv")], body.as_bytes());
    let filled = ask("/v1/models/pets/impute?seed=3", rows).ok().json();
    assert_eq!(filled["rows"][2], json!(["dog", 4, 21.0]));
    assert!(filled["rows"][0][2].is_number() && filled["rows"][1][0].is_string());
    let draws = ask("/v1/models/pets/impute?draws=4", rows).ok().json();
    assert_eq!((draws["rows"].as_array().unwrap().len(), &draws["columns"][0]), (12, &json!("draw")));
    let found = ask("/v1/models/pets/predict?target=weight", rows).ok().json();
    let model = table();
    let right = model.predict(Data::from_csv(rows), "weight").unwrap();
    assert_eq!(found["columns"][0], "mean");
    for (row, mean) in found["rows"].as_array().unwrap().iter().zip(right.mean().unwrap()) {
        assert!((row[0].as_f64().unwrap() - mean).abs() < 1e-12);
    }
    let scores = ask("/v1/models/pets/score?cells=true", rows).ok().json();
    let right: Vec<_> = model.score(Data::from_csv(rows)).rows().unwrap().map(Result::unwrap).collect();
    for (row, right) in scores["rows"].as_array().unwrap().iter().zip(right) {
        assert!((row[1].as_f64().unwrap() - right.log_likelihood).abs() < 1e-9);
        let legs = right.cells[1].as_ref().map(|cell| cell.surprise);
        assert_eq!(row[7].as_f64(), legs);
    }
    assert_eq!(scores["columns"][7], "surprise: legs");
    // The same rows as JSON.
    let json_rows = json!({ "columns": ["kind", "legs", "weight"], "rows": [["cat", 4, null], [null, 2, 0.31], ["dog", 4, 21]] });
    assert_eq!(
        place.post("/v1/models/pets/predict?target=weight", &json_rows).ok().json()["rows"],
        found["rows"]
    );
    place
        .post("/v1/models/pets/predict?target=weight", &json!({ "columns": ["kind"], "rows": [["cat", 1]] }))
        .refused(422);
    assert_eq!(ask("/v1/models/pets/predict?target=colour", rows).refused(422)["column"], "colour");
    ask("/v1/models/pets/predict", rows).refused(400);
    ask("/v1/models/pets/predict?target=weight", "").refused(400);
    ask("/v1/models/pets/predict?target=weight&sede=1", rows).refused(400);
    ask("/v1/models/pets/score", "x,y\n1,2\n").refused(422);
    let problem = ask("/v1/models/pets/score", "kind,weight\ncat,4\ncat,heavy\n").refused(422);
    assert_eq!((&problem["column"], &problem["value"]), (&json!("weight"), &json!("heavy")));
}

#[test]
fn what_if_is_what_the_library_says() {
    let place = Place::with_model();
    let found = place.post("/v1/models/pets/laws", &json!({ "given": { "kind": "bird" } })).ok().json();
    let model = table();
    let right = model.sample(0).given("kind", "bird").laws().unwrap();
    assert_eq!(found["laws"].as_array().unwrap().len(), right.len());
    for (law, right) in found["laws"].as_array().unwrap().iter().zip(&right) {
        assert_eq!(law["column"], right.column().name.as_str());
        let shares: Vec<f64> =
            law["shape"]["shares"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).collect();
        assert_eq!(shares, right.shapes().unwrap()[0].shares);
    }
    place
        .post(
            "/v1/models/pets/laws",
            &json!({ "given": { "weight": { "from": 1 }, "kind": ["cat", "dog"] } }),
        )
        .ok();
    assert_eq!(
        place.post("/v1/models/pets/laws", &json!({ "given": { "kind": "horse" } })).refused(422)["value"],
        "horse"
    );
    let marginals = place.get("/v1/models/pets/marginals?rows=200").ok().json();
    assert_eq!(marginals["columns"].as_array().unwrap().len(), 3);
    assert_eq!((&marginals["columns"][0]["column"], &marginals["joint"]), (&json!("kind"), &Value::Null));
    let both = place.get("/v1/models/pets/marginals?rows=200&first=kind&second=weight").ok().json();
    assert_eq!(both["columns"], marginals["columns"]);
    let joint = &both["joint"];
    assert_eq!(
        (&joint["columns"], joint["labels"][0].as_array().unwrap().len()),
        (&json!(["kind", "weight"]), 3)
    );
    place.get("/v1/models/pets/marginals?first=kind").refused(400);
    assert_eq!(place.get("/v1/models/pets/marginals?first=kind&second=z").refused(422)["column"], "z");
    let trace = place.get("/v1/models/pets/trace").ok().json();
    assert!(!trace["columns"][0]["means"].as_array().unwrap().is_empty());
}

#[test]
fn a_model_is_known_by_its_hash() {
    let place = Place::with_model();
    let reply = place.get("/v1/models/pets/schema").ok();
    let tag = reply.header("etag").unwrap();
    let again = place.send("GET", "/v1/models/pets/schema", &[("if-none-match", &tag)], b"");
    assert_eq!((again.status, again.body.len()), (304, 0));
    let other = place.send("GET", "/v1/models/pets/schema", &[("if-none-match", "\"x\"")], b"");
    assert_eq!(other.status, 200);
    assert_eq!(place.post("/v1/models/pets/sample", &json!({})).header("etag"), Some(tag.clone()));
    // Away and back, under another name.
    let archive = place.get("/v1/models/pets/archive").ok().body;
    assert_eq!(place.put("/v1/models/twin", &archive).ok().status, 201);
    assert_eq!(place.get("/v1/models/twin/schema").ok().header("etag"), Some(tag));
    place.put("/v1/models/twin", &archive).refused(409);
    // One that was changed is refused, and leaves nothing.
    let mut damaged = archive.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    assert_eq!(place.put("/v1/models/bad", &damaged).status, 422);
    place.put("/v1/models/bad", b"no archive").refused(422);
    let names: Vec<String> = std::fs::read_dir(&place.folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!names.iter().any(|name| name.contains("bad") || name.starts_with(".upload")), "{names:?}");
    assert!(place.get("/v1/models/pets/card").ok().text().starts_with("# A model of a table"));
    place.get("/v1/models/pets/report").refused(404);
}

#[test]
fn limits_are_told() {
    let place = Place::with(|options| small(&mut options.limits)).and_model();
    let problem = place.post("/v1/models/pets/sample", &json!({ "count": 5001 })).refused(413);
    assert!(problem["detail"].as_str().unwrap().contains("5000") && problem["remedy"].is_string());
    place
        .send("POST", "/v1/models/pets/score", &[("content-type", "text/csv")], pets(3000).as_bytes())
        .refused(413);
    place.get("/v1/nothing").refused(404);
    place.send("DELETE", "/v1/models/pets", &[], b"").refused(405);
    let place = Place::with(|options| options.limits.seconds = 0).and_model();
    place.post("/v1/models/pets/sample", &json!({ "count": 10 })).refused(503);
}

#[test]
fn the_api_is_described() {
    let place = Place::empty();
    let document = place.get("/openapi.json").ok().json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    for path in
        ["/v1/models/{name}/sample", "/v1/models/{name}/laws", "/v1/fits/{name}/events", "/v1/data/{name}"]
    {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    let pair = place.get("/v1/method/gamma").ok().json();
    assert_eq!(pair["readings"].as_array().unwrap().len(), pair["means"].as_array().unwrap().len());
    place.get("/v1/method/cauchy").refused(404);
}
