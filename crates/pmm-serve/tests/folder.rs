//! Nothing outside the folder is read or written, and nothing in it is lost.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Place, pets, small};
use serde_json::json;

#[test]
fn no_name_leads_out() {
    let around = tempfile::tempdir().unwrap();
    let inner = around.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(around.path().join("outside.csv"), "a\n1\n").unwrap();
    let place = Place::at(&inner, |_| ()).and_model();
    for name in [
        "..%2Foutside.csv",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e%2foutside.csv",
        "%2Fetc%2Fpasswd",
        "..\\outside.csv",
        "a%00b",
        ".pmm-serve",
        "%2e%2e",
    ] {
        for path in [
            format!("/v1/models/{name}"),
            format!("/v1/models/{name}/card"),
            format!("/v1/models/{name}/archive"),
        ] {
            let reply = place.get(&path);
            assert!([400, 404].contains(&reply.status), "{path}: {} {}", reply.status, reply.text());
        }
        let reply = place.put(&format!("/v1/data/{name}"), b"a\n1\n");
        assert!([400, 404, 405].contains(&reply.status), "{name}: {} {}", reply.status, reply.text());
        let reply = place.post(&format!("/v1/data/{name}/inspect"), &json!({}));
        assert!([400, 404].contains(&reply.status), "{name}: {}", reply.status);
    }
    // In a body names are not encoded.
    for name in
        ["../outside.csv", "../../etc/passwd", "/etc/passwd", "..\\outside.csv", "a\0b", ".pmm-serve", ".."]
    {
        place.post("/v1/fits", &json!({ "data": "pets.csv", "model": name })).refused(400);
        place.post("/v1/fits", &json!({ "data": name, "model": "new" })).refused(400);
    }
    // A path as it is typed is no path at all.
    for path in
        ["/v1/models/../../etc/passwd", "/page/../Cargo.toml", "//etc/passwd", "/v1/models/pets/../../x"]
    {
        assert_eq!(place.get(path).status, 404, "{path}");
    }
    assert_eq!(std::fs::read_dir(around.path()).unwrap().count(), 2, "nothing is written beside the folder");
    assert_eq!(std::fs::read(around.path().join("outside.csv")).unwrap(), b"a\n1\n");
}

#[cfg(unix)]
#[test]
fn no_link_leads_out() {
    let place = Place::with_model();
    let secret = tempfile::tempdir().unwrap();
    std::fs::write(secret.path().join("secret.html"), "SECRET").unwrap();
    let link = std::os::unix::fs::symlink::<std::path::PathBuf, std::path::PathBuf>;
    link(secret.path().join("secret.html"), place.folder.join("pets.pmm/report.html")).unwrap();
    link(secret.path().join("secret.html"), place.folder.join("secret.csv")).unwrap();
    link(secret.path().to_owned(), place.folder.join("linked.pmm")).unwrap();
    place.get("/v1/models/pets/report").refused(403);
    place.get("/v1/models/pets").refused(403);
    place.get("/v1/models/linked/card").refused(403);
    place.post("/v1/data/secret.csv/inspect", &json!({})).refused(403);
    place.post("/v1/fits", &json!({ "data": "secret.csv" })).refused(403);
    // Nor is anything written through one.
    place.put("/v1/data/secret.csv", b"x").refused(409);
    assert_eq!(std::fs::read(secret.path().join("secret.html")).unwrap(), b"SECRET");
    assert_eq!(place.get("/v1/models").ok().json(), json!([]));
}

#[test]
fn files_come_whole_or_not_at_all() {
    let place = Place::with(|options| small(&mut options.limits));
    assert_eq!(place.put("/v1/data/pets.csv", pets(50).as_bytes()).ok().status, 201);
    assert_eq!(std::fs::read(place.folder.join("pets.csv")).unwrap(), pets(50).into_bytes());
    place.put("/v1/data/pets.csv", b"other").refused(409);
    place.put("/v1/data/pets.csv", pets(50).replace("dog", "cow").as_bytes()).refused(409);
    assert_eq!(place.put("/v1/data/pets.csv", pets(50).as_bytes()).status, 200, "the same again");
    place.put("/v1/data/empty.csv", b"").refused(400);
    place.put("/v1/data/m.pmm", b"x").refused(400);
    place.put("/v1/data/large.csv", &vec![b'1'; 30_000]).refused(413);
    // The same without its length being told.
    let chunk = format!("7530\r\n{}\r\n0\r\n\r\n", "1".repeat(30_000));
    place
        .send("PUT", "/v1/data/large.csv", &[("transfer-encoding", "chunked")], chunk.as_bytes())
        .refused(413);
    let names: Vec<String> = std::fs::read_dir(&place.folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["pets.csv"]);
    place.post("/v1/data/pets.csv/inspect", &json!({ "settings": { "x": "1".repeat(30_000) } })).refused(413);
}

#[test]
fn what_is_in_a_file_is_told_with_reasons() {
    let place = Place::empty();
    std::fs::write(place.folder.join("pets.csv"), pets(300)).unwrap();
    let found = place.post("/v1/data/pets.csv/inspect", &json!({})).ok().json();
    assert_eq!((&found["kind"], &found["count"]), (&json!("table"), &json!(300)));
    let kind = &found["columns"][0];
    assert_eq!(
        (&kind["name"], &kind["kind"], &kind["levels"][0]),
        (&json!("kind"), &json!("category"), &json!("bird"))
    );
    assert!(!kind["reason"].as_str().unwrap().is_empty());
    let shares: f64 = found["columns"][2]["shape"]["shares"]
        .as_array()
        .unwrap()
        .iter()
        .map(|share| share.as_f64().unwrap())
        .sum();
    assert!((shares - 1.0).abs() < 1e-9);
    let other = place
        .post("/v1/data/pets.csv/inspect", &json!({ "columns": { "legs": { "kind": "category" } } }))
        .ok()
        .json();
    assert_eq!(other["columns"][1]["kind"], "category");
    let problem = place
        .post("/v1/data/pets.csv/inspect", &json!({ "columns": { "legs": { "kind": "colour" } } }))
        .refused(422);
    assert!(problem["detail"].as_str().unwrap().contains("colour"));
    assert_eq!(std::fs::read_dir(&place.folder).unwrap().count(), 1, "nothing is written");
}

/// A zip whose members are stored as they are.
fn zip(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut table) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let size = (content.len() as u32).to_le_bytes();
        let length = (name.len() as u16).to_le_bytes();
        let common = [&[0; 6][..], &crc.sum().to_le_bytes(), &size, &size, &length, &[0; 2]].concat();
        let start = (out.len() as u32).to_le_bytes();
        table
            .extend([b"PK\x01\x02\x14\0\x14\0\0\0", &common[..], &[0; 10], &start, name.as_bytes()].concat());
        out.extend([b"PK\x03\x04\x14\0\0\0", &common[..], name.as_bytes(), content].concat());
    }
    let end = [(table.len() as u32).to_le_bytes(), (out.len() as u32).to_le_bytes()].concat();
    let count = (members.len() as u16).to_le_bytes();
    [&out[..], &table, b"PK\x05\x06\0\0\0\0", &count, &count, &end, &[0; 2]].concat()
}

/// Pictures are read where they are in the archive: whatever its names say, nothing is written.
#[test]
fn zips_of_pictures_are_images() {
    let place = Place::empty();
    let png = |value: u8| pmm::image::grid_png(&[vec![value; 64]], [1, 8, 8], 1).unwrap();
    let mut members: Vec<(String, Vec<u8>)> =
        (0..40).map(|i| (format!("shapes/{}/{i}.png", ["dark", "light"][i % 2]), png(6 * i as u8))).collect();
    let archive = |members: &[(String, Vec<u8>)]| {
        zip(&members.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect::<Vec<_>>())
    };
    place.put("/v1/data/shapes.zip", &archive(&members)).ok();
    assert_eq!(place.get("/v1/data").ok().json()[0]["kind"], "image");
    let found = place.post("/v1/data/shapes.zip/inspect", &json!({})).ok().json();
    assert_eq!((&found["kind"], &found["count"]), (&json!("image"), &json!(40)));
    assert!(found["about"].as_str().unwrap().contains("dark, light"), "{found}");
    members.push(("../../evil.png".into(), png(1)));
    members.push(("/evil.png".into(), b"no picture".to_vec()));
    place.put("/v1/data/evil.zip", &archive(&members)).ok();
    let problem = place.post("/v1/data/evil.zip/inspect", &json!({})).refused(422);
    assert!(problem["detail"].as_str().unwrap().contains("evil.png"), "{problem}");
    place.put("/v1/data/tables.zip", &zip(&[("a.csv", b"a\n1\n".to_vec())])).ok();
    place.post("/v1/data/tables.zip/inspect", &json!({})).refused(422);
    assert_eq!(
        place.get("/v1/data").ok().json().as_array().unwrap().len(),
        2,
        "only those of pictures are listed"
    );
    assert_eq!(std::fs::read_dir(&place.folder).unwrap().count(), 3);
}

#[test]
fn hostile_files_are_refused_by_name() {
    let place = Place::empty();
    let files: [(&str, &[u8]); 5] = [
        ("binary.csv", b"\x00\x01\x02\xff\xfe"),
        ("ragged.csv", b"a,b\n1,2\n3\n"),
        ("fake.parquet", b"PAR1 but not really PAR1"),
        ("fake.npz", b"PK\x03\x04 and nothing"),
        ("one.txt", b"a"),
    ];
    for (name, bytes) in files {
        place.put(&format!("/v1/data/{name}"), bytes).ok();
        let problem = place.post(&format!("/v1/data/{name}/inspect"), &json!({})).refused(422);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(name) && !detail.contains(place.folder.to_str().unwrap()), "{detail}");
    }
    place.get("/healthz").ok();
}

#[test]
fn a_server_that_only_reads_writes_nothing() {
    let place = Place::with(|options| options.read_only = true).and_model();
    place.put("/v1/data/a.csv", b"a\n1\n").refused(403);
    place.put("/v1/models/b", b"x").refused(403);
    place.post("/v1/fits", &json!({ "data": "pets.csv", "model": "b" })).refused(403);
    place.post("/v1/models/pets/sample", &json!({})).ok();
}
