//! Fits as jobs: watched, stopped, gone on with, after the server was ended, too.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{BufRead, BufReader, Write};

use common::{Place, TOKEN, quick};
use serde_json::{Value, json};

fn place() -> Place {
    let place = Place::empty();
    std::fs::write(place.folder.join("pets.csv"), common::pets(300)).unwrap();
    place
}

/// The hash of what an undisturbed fit of so many steps leaves.
fn undisturbed(steps: u64) -> String {
    let place = place();
    place.post("/v1/fits", &quick(steps)).ok();
    place.wait("new", &["finished"]);
    place.get("/v1/models/new").ok().json()["hash"].as_str().unwrap().to_owned()
}

#[test]
fn a_fit_is_watched_to_its_end() {
    let place = place();
    let begun = place.post("/v1/fits", &quick(400)).ok();
    assert_eq!((begun.status, &begun.json()["name"]), (202, &json!("new")));
    place.post("/v1/fits", &quick(400)).refused(409);
    let mut stream = place.connect();
    write!(
        stream,
        "GET /v1/fits/new/events HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\n\r\n",
        place.address
    )
    .unwrap();
    let mut events: Vec<Value> = Vec::new();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if let Some(data) = line.strip_prefix("data: ") {
            events.push(serde_json::from_str(data).unwrap());
            if events.last().unwrap()["event"] == "state" && events.last().unwrap()["state"] == "finished" {
                break;
            }
        }
    }
    assert_eq!(events[0]["request"]["data"], "pets.csv", "the first says how far it is");
    assert!(events.iter().any(|event| event["event"] == "validated" && event["loss"].is_number()));
    let steps: Vec<u64> = events
        .iter()
        .filter(|event| event["event"] == "step")
        .map(|event| event["step"].as_u64().unwrap())
        .collect();
    assert!(!steps.is_empty() && steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    let status = place.wait("new", &["finished"]);
    assert!(!status["history"]["held_out"].as_array().unwrap().is_empty());
    let models = place.get("/v1/models").ok().json();
    assert_eq!(models, json!([{ "name": "new", "kind": "table", "ready": true }]));
    place.post("/v1/models/new/sample", &json!({ "count": 3 })).ok();
    // The two columns that depend on each other most; legs follow from the kind, which is a rule.
    let pair = place.get("/v1/fits/new/pair").ok().json();
    assert!(pair["columns"].as_array().unwrap().contains(&json!("weight")), "{pair}");
    let shares = pair["shares"].as_array().unwrap().iter().flat_map(|line| line.as_array().unwrap());
    assert!((shares.map(|share| share.as_f64().unwrap()).sum::<f64>() - 1.0).abs() < 1e-9);
    place.get("/v1/fits/nobody/pair").refused(404);
    place.post("/v1/fits/new/resume", &json!({})).refused(409);
    place.post("/v1/fits", &quick(30)).refused(409);
    let replaced = json!({ "data": "pets.csv", "model": "new", "steps": 20, "replace": true, "settings": { "net.width": "16" } });
    place.post("/v1/fits", &replaced).ok();
    place.wait("new", &["finished"]);
    assert_eq!(place.get("/v1/models/new").ok().json()["fit"]["steps"], 20);
}

#[test]
fn a_fit_that_was_stopped_goes_on_as_if_it_had_not_been() {
    let place = place();
    place.post("/v1/fits", &quick(1500)).ok();
    while place.wait("new", &["queued", "running", "finished"])["step"].as_u64().unwrap() < 30 {}
    place.post("/v1/fits/new/stop", &json!({})).ok();
    let stopped = place.wait("new", &["stopped"]);
    assert!(stopped["step"].as_u64().unwrap() < 1500);
    // What was learned can be used.
    place.get("/v1/models").ok();
    place.post("/v1/fits/new/resume", &json!({})).ok();
    place.wait("new", &["finished"]);
    assert_eq!(place.get("/v1/models/new").ok().json()["hash"], undisturbed(1500));
}

#[test]
fn a_fit_goes_on_by_another_server() {
    let mut first = place();
    let mut second_in_line = quick(50);
    second_in_line["model"] = "later".into();
    first.post("/v1/fits", &quick(1500)).ok();
    first.post("/v1/fits", &second_in_line).ok();
    while first.wait("new", &["queued", "running", "finished"])["step"].as_u64().unwrap() < 30 {}
    first.end();
    let place = Place::at(&first.folder.clone(), |_| ());
    let status = place.wait("new", &["stopped"]);
    assert_eq!(status["request"]["steps"], 1500);
    assert_eq!(place.wait("later", &["stopped"])["step"], 0);
    for name in ["new", "later"] {
        place.post(&format!("/v1/fits/{name}/resume"), &json!({})).ok();
        place.wait(name, &["finished"]);
    }
    assert_eq!(place.get("/v1/models/new").ok().json()["hash"], undisturbed(1500));
}

#[test]
fn what_cannot_be_fitted_says_why() {
    let place = place();
    place.post("/v1/fits", &json!({ "data": "nobody.csv" })).refused(404);
    place
        .post("/v1/fits", &json!({ "data": "pets.csv", "columns": { "legs": { "pair": "x" } } }))
        .refused(422);
    place.post("/v1/fits", &json!({ "data": "pets.csv", "model": "../x" })).refused(400);
    place.get("/v1/fits/nobody").refused(404);
    place.get("/v1/fits/nobody/events").refused(404);
    std::fs::write(place.folder.join("one.csv"), "a\n1\n1\n1\n").unwrap();
    place.post("/v1/fits", &json!({ "data": "one.csv" })).ok();
    let failed = place.wait("one", &["failed"]);
    let detail = failed["problem"]["detail"].as_str().unwrap();
    assert!(detail.contains("one.csv") && !detail.contains(place.folder.to_str().unwrap()), "{detail}");
    place.post("/v1/fits", &json!({ "data": "pets.csv", "settings": { "net.colour": "red" } })).ok();
    assert!(place.wait("pets", &["failed"])["problem"]["detail"].as_str().unwrap().contains("colour"));
}

/// Samples in the making: a text after every call, images with the information at every call.
#[test]
fn texts_and_images_are_seen_in_the_making() {
    let place = Place::empty();
    std::fs::write(place.folder.join("story.txt"), "the cat sat on the mat and the dog ran. ".repeat(60))
        .unwrap();
    std::fs::create_dir(place.folder.join("shapes")).unwrap();
    for i in 0..40u8 {
        let image = (0..64u8).map(|pixel| if pixel / 8 == i % 8 { 250 } else { i }).collect();
        let png = pmm::image::grid_png(&[image], [1, 8, 8], 1).unwrap();
        std::fs::write(place.folder.join(format!("shapes/{i}.png")), png).unwrap();
    }
    let begin = |data: &str, name: &str, settings: Value| {
        let request = json!({ "data": data, "model": name, "steps": 8, "settings": settings });
        place.post("/v1/fits", &request).ok();
        let ended = place.wait(name, &["finished", "failed"]);
        assert_eq!(ended["state"], "finished", "{ended}");
        place.get(&format!("/v1/fits/{name}/pair")).refused(409);
        place.get(&format!("/v1/models/{name}/trace")).ok()
    };
    let small = json!({ "net.width": "16", "net.blocks": "1", "net.heads": "2", "net.length": "24" });
    let text = begin("story.txt", "story", small).json();
    let frames = text["frames"].as_array().unwrap();
    assert_eq!((&text["tokens"], text["known"].as_array().unwrap().len()), (&json!(24), frames.len()));
    assert!(frames[0].as_str().unwrap().contains('·'), "{text}");
    assert!(!frames.last().unwrap().as_str().unwrap().contains('·'), "{text}");
    let small = json!({ "batch": "4", "net.width": "8", "net.multipliers": "[1,2]" });
    let images = begin("shapes", "shapes", small).json();
    let readings: Vec<f64> =
        images["readings"].as_array().unwrap().iter().map(|reading| reading.as_f64().unwrap()).collect();
    assert!(readings.len() > 10 && readings.windows(2).all(|pair| pair[0] < pair[1]), "{readings:?}");
    let pngs = images["pngs"].as_array().unwrap();
    assert_eq!(pngs.len(), readings.len());
    assert!(pngs.iter().all(|png| png.as_str().unwrap().starts_with("iVBORw0KGgo")) && pngs[0] != pngs[9]);
    let moving = place.send("GET", "/v1/models/shapes/trace", &[("accept", "image/png")], b"").ok();
    assert!(moving.body.starts_with(b"\x89PNG") && moving.body.windows(4).any(|chunk| chunk == b"fcTL"));
}
