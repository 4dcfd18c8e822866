//! Tables in many files, in and out: the same as in one.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Place, QUICK};

/// The pets in three files.
fn in_parts(place: &Place) {
    let whole = String::from_utf8(place.read("pets.csv")).unwrap();
    let (head, rows) = whole.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    std::fs::create_dir(place.path("parts")).unwrap();
    for (number, part) in rows.chunks(120).enumerate() {
        place.write(&format!("parts/part-{number}.csv"), format!("{head}\n{}\n", part.join("\n")));
    }
}

#[test]
fn a_folder_is_fitted_filled_and_scored_as_a_file() {
    let place = Place::with_pets();
    in_parts(&place);
    place.run(&format!("fit pets.csv {QUICK} -q")).ok();
    let run = place.run(&format!("fit parts {QUICK}")).ok();
    assert!(
        run.err.contains("parts: 300 rows, 9 columns") && run.err.contains("note: 3 files"),
        "{}",
        run.err
    );
    for job in
        ["sample MODEL -n 50", "impute MODEL DATA", "score MODEL DATA", "predict MODEL DATA --target weight"]
    {
        let of = |model: &str, data: &str| {
            place.run(&format!("{} -q", job.replace("MODEL", model).replace("DATA", data))).ok().out
        };
        let one = of("pets.pmm", "pets.csv");
        assert!(one == of("parts.pmm", "parts"), "{job}");
        assert!(one == of("parts.pmm", "parts/part-?.csv"), "{job}");
    }
}

#[test]
fn pieces_of_a_sample_are_files_of_one_data_set() {
    let place = Place::with_model("");
    place.run("sample pets.pmm -n 1e3 --out whole.csv").ok();
    // Two jobs, each of which knows nothing of the other.
    for rows in ["0..400", "400..1e3"] {
        place.run(&format!("sample pets.pmm --rows {rows} --out part-*.csv --rows-per-file 2e2")).ok();
    }
    let pieces: Vec<Vec<String>> =
        (0..5).flat_map(|number| place.sheet(&format!("part-{number:05}.csv")).rows).collect();
    assert!(pieces == place.sheet("whole.csv").rows);
    assert!(!place.path("part-00005.csv").exists());
    // Parquet: the files of jobs are those of one run, byte for byte.
    for (name, jobs) in [("one", vec!["0..1e3"]), ("two", vec!["600..1e3", "0..600"])] {
        for rows in jobs {
            place
                .run(&format!("sample pets.pmm --rows {rows} --out {name}-*.parquet --rows-per-file 2e2"))
                .ok();
        }
    }
    for number in 0..5 {
        let bytes = |name: &str| std::fs::read(place.path(&format!("{name}-{number:05}.parquet"))).unwrap();
        assert!(bytes("one") == bytes("two"), "file {number}");
    }
    let within = "sample pets.pmm --rows 100..400 --out part-*.csv --rows-per-file 200";
    place.run(within).fails(1, &["row 100 does not begin a file of 200 rows", "hint:"]);
    place.run("sample pets.pmm --out part-*.csv").fails(1, &["how many rows a file has", "--rows-per-file"]);
    place.run("sample pets.pmm -n 1.5").fails(2, &["is no whole number"]);
}

#[test]
fn what_a_build_cannot_do_is_said() {
    let place = Place::with_pets();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_pmm"))
        .args(["fit", "pets.csv", "--steps", "5"])
        .current_dir(place.path(""))
        .env("OMPI_COMM_WORLD_SIZE", "4")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    if !cfg!(feature = "mpi") {
        assert!(!run.status.success(), "four processes would write to one folder");
        assert!(
            said.contains("4 processes were started together") && said.contains("--features mpi"),
            "{said}"
        );
    }
    if !cfg!(feature = "s3") {
        place.run("fit s3://bucket/rows/").fails(1, &["s3://bucket/rows/ is in a store", "feature s3"]);
    }
    place.run("fit sqlite:///pets.db").fails(1, &["is a database", "--sql"]);
    place.run("fit sqlite:///pets.db --sql x").fails(1, &["there is no file pets.db"]);
    place.run("fit nowhere://pets --sql x").fails(1, &["adbc_driver_nowhere", "pip install"]);
}
