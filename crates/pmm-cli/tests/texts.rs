//! Texts: what a user sees of fit, sample, infill, eval, trace and info.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Place, Run, pick, pmm};
use pmm_core::{Purpose, Streams};

/// A fit that is over in a blink.
const QUICK: &str = "--steps 12 -q --set batch=4 --set net.width=16 --set net.blocks=1 --set net.heads=2 --set net.length=32 \
                     --set net.condition=8";

/// Sentences of a small grammar.
fn book(sentences: u64) -> String {
    let sentence = |row: u64| {
        let mut rng = Streams::new(2).stream(Purpose::DATA, 0, row);
        let animal = pick(&mut rng, &["cat", "dog", "fish"]);
        format!(
            "the {animal} {} the {}.\n",
            pick(&mut rng, &["sees", "eats"]),
            pick(&mut rng, &["bird", "mouse"])
        )
    };
    (0..sentences).map(sentence).collect()
}

/// A folder with `book.txt`.
fn place() -> Place {
    let place = Place::new();
    place.write("book.txt", book(300));
    place
}

/// With a model of it in `book.pmm`.
fn with_model(settings: &str) -> Place {
    let place = place();
    place.run(&format!("fit book.txt {QUICK} {settings}")).ok();
    place
}

/// Arguments that hold blanks.
fn run(place: &Place, arguments: &[&str]) -> Run {
    let output = pmm().current_dir(place.path("")).args(arguments).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(!err.contains("panicked"), "{err}");
    Run { code: output.status.code(), out: output.stdout, err }
}

#[test]
fn fit_says_what_it_found() {
    let place = place();
    let run = place.run(&format!("fit book.txt {}", QUICK.replace("-q ", ""))).ok();
    assert!(run.err.contains("(characters, 18 kinds); texts of 32 tokens"), "{}", run.err);
    assert!(run.err.contains("held out: the last "), "{}", run.err);
    let info = String::from_utf8(place.run("info book.pmm").ok().out).unwrap();
    assert!(info.contains("characters, 18 kinds") && info.contains("12 steps, the best at"), "{info}");
    let card = String::from_utf8(place.read("book.pmm/README.md")).unwrap();
    assert!(card.contains("# A model of texts") && card.contains("schedule = \"log-linear\""), "{card}");
}

/// Two fits with one seed are the same files, one thread or two; another seed is another model.
#[test]
fn one_seed_one_model() {
    let place = place();
    for (name, rest) in [("a", "--threads 1"), ("b", "--threads 2"), ("c", "--seed 1")] {
        place.run(&format!("fit book.txt {QUICK} --out {name} {rest}")).ok();
    }
    assert_eq!(place.read("a/weights.safetensors"), place.read("b/weights.safetensors"));
    assert_ne!(place.read("a/weights.safetensors"), place.read("c/weights.safetensors"));
}

/// A text is the same for the same seed and number, whatever the threads and however many are drawn with it.
#[test]
fn samples_depend_on_seed_and_number_only() {
    let place = with_model("");
    let lines = |rest: &str| -> Vec<String> {
        let run = place.run(&format!("sample book.pmm --format jsonl {rest}")).ok();
        String::from_utf8(run.out).unwrap().lines().map(str::to_owned).collect()
    };
    let five = lines("-n 5");
    assert_eq!(five.len(), 5);
    assert_eq!(lines("-n 40 --threads 1")[..5], five);
    assert_ne!(lines("-n 5 --seed 1"), five);
    for sampler in ["events", "steps --steps 4", "parallel --steps 4", "confident --steps 4"] {
        for line in lines(&format!("-n 2 --sampler {sampler}")) {
            let text: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(text["text"].as_str().unwrap().chars().count(), 32, "{sampler}");
        }
    }
}

#[test]
fn a_beginning_is_kept() {
    let place = with_model("");
    // The grammar has no comma.
    run(&place, &["sample", "book.pmm", "--given", "the cat, "])
        .fails(1, &["','", "not in the vocabulary", "hint:"]);
    let given = ["sample", "book.pmm", "--given", "the cat ", "--top-k", "3", "-n", "2"];
    let texts = String::from_utf8(run(&place, &given).ok().out).unwrap();
    assert!(texts.split("\n---\n").all(|text| text.starts_with("the cat ")), "{texts}");
}

/// Gaps are filled, everything else is as it was, in short texts and in texts longer than the model's.
#[test]
fn infill_keeps_what_is_given() {
    let place = with_model("");
    let long = format!("{}the ___ sees the [MASK:4].\n{}", book(5), book(3));
    for (text, before, after) in [
        ("the ____ eats the bird.", "the ", " eats the bird."),
        ("the cat sees the [MASK:5].", "the cat sees the ", "."),
    ] {
        let filled = String::from_utf8(run(&place, &["infill", "book.pmm", text]).ok().out).unwrap();
        let filled = filled.strip_suffix('\n').unwrap();
        assert!(filled.starts_with(before) && filled.ends_with(after) && !filled.contains("__"), "{filled}");
        let gap = if text.contains('_') { 4 } else { 5 };
        assert_eq!(filled.chars().count(), before.len() + gap + after.len(), "{filled}");
    }
    let filled = run_stdin(&place, &["infill", "book.pmm", "-", "--steps", "3"], &long);
    let (start, end) = (format!("{}the ", book(5)), format!(".\n{}\n", book(3)));
    assert!(
        filled.starts_with(&start) && filled.ends_with(&end) && filled.contains(" sees the "),
        "{filled}"
    );
    run(&place, &["infill", "book.pmm", "the cat"]).fails(1, &["no gap", "____"]);
}

/// A gap without a length gets one; several completions are ranked, each once; words stay whole if asked.
#[test]
fn infill_finds_lengths_and_ranks() {
    let place = with_model("");
    let text = "the [MASK] sees the bird.";
    let ranked =
        ["infill", "book.pmm", text, "--candidates", "12", "-n", "5", "--longest", "6", "--format", "jsonl"];
    let lines = String::from_utf8(run(&place, &ranked).ok().out).unwrap();
    let found: Vec<(f64, String)> = lines
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            (value["bits"].as_f64().unwrap(), value["text"].as_str().unwrap().to_owned())
        })
        .collect();
    assert_eq!(found.len(), 5);
    assert!(found.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 != pair[1].1), "{found:?}");
    for (_, text) in &found {
        let gap = text.strip_prefix("the ").and_then(|text| text.strip_suffix(" sees the bird.")).unwrap();
        assert!((1..=6).contains(&gap.chars().count()), "{text}");
    }
    let lengths: std::collections::BTreeSet<usize> = found.iter().map(|(_, text)| text.len()).collect();
    assert!(lengths.len() > 1, "one length only: {found:?}");
    let whole =
        ["infill", "book.pmm", "the cat[MASK]the bird.", "--whole-words", "-n", "4", "--format", "jsonl"];
    for line in String::from_utf8(run(&place, &whole).ok().out).unwrap().lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = value["text"].as_str().unwrap();
        let gap = text.strip_prefix("the cat").and_then(|text| text.strip_suffix("the bird.")).unwrap();
        let ends = [gap.chars().next(), gap.chars().last()];
        assert!(ends.iter().all(|end| end.is_some_and(|c| !c.is_alphanumeric())), "{text}");
    }
    run(&place, &["infill", "book.pmm", text, "--order", "random"])
        .fails(1, &["without a length", "[MASK:12]"]);
}

/// A text that is shown as it is made is the text that is written whole; it may be longer than a window, and of a masked network neither is to be
/// had.
#[test]
fn long_texts_slide_on() {
    let place = with_model("");
    let texts =
        |rest: &str| String::from_utf8(place.run(&format!("sample book.pmm {rest}")).ok().out).unwrap();
    let streamed = texts("--length 150");
    assert_eq!(streamed.strip_suffix('\n').unwrap().chars().count(), 150);
    let value: serde_json::Value = serde_json::from_str(&texts("--length 150 --format jsonl")).unwrap();
    assert_eq!(format!("{}\n", value["text"].as_str().unwrap()), streamed);
    assert_eq!(texts("--length 32"), texts(""));
    assert_eq!(texts("").trim_end_matches('\n'), streamed[..32].trim_end_matches('\n'));
    assert_ne!(texts("--order random"), texts("--order left-to-right"));
    place.run("sample book.pmm --order random --length 150").fails(1, &["150 tokens", "left to right"]);
    place.run("sample book.pmm --order random --sampler events").fails(1, &["--order"]);
    place.run(&format!("fit book.txt {QUICK} --set net.kind=masked --out masked.pmm")).ok();
    place.run("sample masked.pmm --order left-to-right").fails(1, &["masked network", "net.kind"]);
    place.run("sample masked.pmm --length 150").fails(1, &["150 tokens", "ordered"]);
}

/// Documents are ranked by their bits, and every token has a surprise.
#[test]
fn documents_are_scored() {
    let place = place();
    place.run(&format!("fit book.txt {}", QUICK.replace("--steps 12", "--steps 60"))).ok();
    place.write(
        "three.jsonl",
        "{\"text\":\"the cat sees the bird.\"}\n{\"text\":\"drib eht sees tac eht.\"}\n",
    );
    let table = String::from_utf8(place.run("score book.pmm three.jsonl -q").ok().out).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..4], ["name", "rank", "tokens", "left_to_right"]);
    assert_eq!((rows.len(), &rows[1][..3], &rows[2][..3]), (3, &["1", "1", "22"][..], &["2", "2", "22"][..]));
    let lines = String::from_utf8(place.run("score book.pmm three.jsonl --format jsonl").ok().out).unwrap();
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let sum: f64 = first["surprises"].as_array().unwrap().iter().map(|bits| bits.as_f64().unwrap()).sum();
    assert!((sum - first["left_to_right"].as_f64().unwrap()).abs() < 1e-9);
    place.run("score book.pmm three.jsonl --format parquet").fails(1, &["csv, tsv or jsonl"]);
    place.run(&format!("fit book.txt {QUICK} --set net.kind=masked --out masked.pmm")).ok();
    place.run("score masked.pmm three.jsonl").fails(1, &["masked network", "bound"]);
}

/// Sequences in FASTA: read with what is changed said, learned, written as FASTA, and redesigned.
#[test]
fn sequences_are_read_and_written_as_fasta() {
    let place = Place::new();
    let record = |row: u64| {
        let mut rng = Streams::new(3).stream(Purpose::DATA, 0, row);
        let words: String = (0..6).map(|_| pick(&mut rng, &["MKV", "lla", "GG-S", "WYP"])).collect();
        format!(">seq{row} of nothing\n{words}*\n")
    };
    place.write("p.faa", (0..200).map(record).collect::<String>());
    let fit = place.run(&format!("fit p.faa {}", QUICK.replace("-q ", ""))).ok();
    assert!(fit.err.contains("200 sequences of") && fit.err.contains("amino acids, 10 kinds"), "{}", fit.err);
    assert!(fit.err.contains("small letters raised") && fit.err.contains("gaps left out"), "{}", fit.err);
    assert!(fit.err.contains("200 stops at ends left out"), "{}", fit.err);
    let made = String::from_utf8(place.run("sample p.pmm -n 3").ok().out).unwrap();
    let names: Vec<&str> = made.lines().filter(|line| line.starts_with('>')).collect();
    assert_eq!(names, [">sample_1", ">sample_2", ">sample_3"]);
    place.run("sample p.pmm -n 3 --out new.faa.gz").ok();
    let mut unpacked = String::new();
    flate2::read::GzDecoder::new(&place.read("new.faa.gz")[..]).read_to_string(&mut unpacked).unwrap();
    assert_eq!(unpacked, made);
    let letters = made.lines().filter(|line| !line.starts_with('>')).flat_map(str::chars);
    assert!(letters.clone().count() > 0 && letters.clone().all(|c| "MKVLAGSWYP".contains(c)), "{made}");
    let filled = run(&place, &["infill", "p.pmm", "mkv[MASK:3]GGS", "--candidates", "4"]).ok().out;
    let filled = String::from_utf8(filled).unwrap();
    assert!(filled.starts_with(">completion_1 bits=") && filled.contains("\nMKV"), "{filled}");
    assert!(filled.ends_with("GGS\n"), "{filled}");
    place.write("variants.faa", ">wild\nMKVLLAGGS\n>mutant\nMKVLLAGGW\n");
    let scores = String::from_utf8(place.run("score p.pmm variants.faa -q").ok().out).unwrap();
    assert!(scores.contains("\nwild,") && scores.contains("\nmutant,"), "{scores}");
    place.write("bad.faa", "MKV\n");
    place.run("fit bad.faa").fails(1, &["line 1", "header"]);
}

fn run_stdin(place: &Place, arguments: &[&str], stdin: &str) -> String {
    let output = pmm().current_dir(place.path("")).args(arguments).write_stdin(stdin).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn eval_scores_and_reports() {
    let place = with_model("");
    place.write("test.txt", book(60).to_uppercase().to_lowercase());
    let run = place.run("eval book.pmm test.txt --json -q").ok();
    let scores: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
    let bits = scores["bits_per_character"].as_f64().unwrap();
    // Twelve steps of the network, but the tables of patterns have read a book that says the same over and over.
    assert!(bits > 0.05 && bits < 0.5 * 18f64.log2(), "{bits}");
    assert_eq!(scores["ngram_bits"].as_array().unwrap().len(), 6);
    // The mixture over orders costs less than the mean over them.
    let [random, averaged] =
        ["random_order_bits", "order_averaged_bits"].map(|key| scores[key].as_f64().unwrap());
    assert!(averaged < random && averaged > 0.8 * random && scores["orders"] == 8, "{averaged} {random}");
    assert!(
        scores["gaps"]["recovered"].as_f64().unwrap() < scores["gaps_ngram"]["recovered"].as_f64().unwrap()
    );
    let report = String::from_utf8(place.read("book.pmm/report.html")).unwrap();
    assert!(report.contains("<html") && report.contains("bits per character"));
    place.write("short.txt", "the cat");
    place.run("eval book.pmm short.txt").fails(1, &["7 tokens, too few", "hint:"]);
    place.write("other.txt", book(60).replace("cat", "Öl"));
    place.run("eval book.pmm other.txt").fails(1, &["other.txt", "'Ö'"]);
}

#[test]
fn trace_draws_a_moving_picture() {
    let place = with_model("");
    place.run("trace book.pmm -q").ok();
    let picture = String::from_utf8(place.read("book.pmm/trace.svg")).unwrap();
    assert_eq!(picture.matches("<animate ").count(), 32);
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    place.run("trace book.pmm --out t.png").fails(1, &["not named .svg"]);
    place.run("trace book.pmm --columns x").fails(1, &["no columns"]);
    place.run("sample book.pmm --no-snap").fails(1, &["--no-snap", "not for texts"]);
}

#[test]
fn other_tokenizers_and_sources() {
    let place = place();
    place.run(&format!("fit book.txt {QUICK} --out bytes --set tokenizer=bytes")).ok();
    place.run(&format!("fit book.txt {QUICK} --out bpe --set tokenizer=bpe --set vocabulary=270")).ok();
    for model in ["bytes", "bpe"] {
        place.run(&format!("sample {model} --steps 4 -q")).ok();
        let filled = run(&place, &["infill", model, "the ___ é sees", "--steps", "2"]).ok().out;
        assert!(filled.starts_with(b"the ") && filled.ends_with(" é sees\n".as_bytes()));
    }
    let lines: String = book(300).lines().map(|line| format!("{{\"body\": \"{line}\"}}\n")).collect();
    place.write("book.jsonl", lines);
    place.run(&format!("fit book.jsonl {QUICK} --out lines --set field=body")).ok();
    place.run(&format!("fit book.jsonl {QUICK} --out wrong")).fails(1, &["book.jsonl, line 1", "\"text\""]);
    std::fs::create_dir(place.path("books")).unwrap();
    place.write("books/a.txt", book(150));
    place.write("books/b.txt", book(150));
    place.run(&format!("fit books {QUICK}")).ok();
    assert!(place.path("books.pmm/weights.safetensors").exists());
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let place = place();
    place.write("empty.txt", "");
    place.write("one.txt", "a".repeat(5000));
    place.write("latin.txt", b"caf\xe9 au lait".repeat(100));
    place.write("short.txt", "to be");
    place.run(&format!("fit empty.txt {QUICK}")).fails(1, &["empty.txt is empty"]);
    place.run(&format!("fit one.txt {QUICK}")).fails(1, &["one symbol over and over"]);
    place.run(&format!("fit latin.txt {QUICK}")).fails(1, &["latin.txt, line 1, byte 3", "tokenizer=bytes"]);
    place
        .run(&format!("fit short.txt {QUICK}"))
        .fails(1, &["5 tokens, fewer than net.length = 32", "set net.length to 5 or less"]);
    place.run("fit book.txt --set net.heads=7").fails(1, &["multiple of net.heads"]);
    place.run("fit book.txt --preset text9").fails(1, &["no preset text9", "text8-tiny"]);
    place.run("fit book.txt --target x").fails(1, &["no columns"]);
    place.run("fit nowhere.txt").fails(1, &["nowhere.txt"]);
    // Nothing that looks like a model is left behind.
    for name in ["empty", "one", "latin", "short"] {
        assert!(!place.path(&format!("{name}.pmm/config.toml")).exists(), "{name}");
    }
}

/// Bytes that are not UTF-8 are learned as they are, if asked for.
#[test]
fn bytes_of_any_kind() {
    let place = Place::new();
    place.write("latin.txt", b"caf\xe9 au lait, ".repeat(100));
    place.run(&format!("fit latin.txt {QUICK} --set tokenizer=bytes")).ok();
    place.run("sample latin.pmm --steps 3 -q").ok();
}

#[test]
fn files_that_do_not_belong_are_refused() {
    let place = with_model("");
    let tokenizer = String::from_utf8(place.read("book.pmm/tokenizer.json")).unwrap();
    place.write("book.pmm/tokenizer.json", tokenizer.replace('q', "").replacen('t', "z", 1));
    place.run("sample book.pmm").fails(1, &["hint:"]);
    place.write("book.pmm/tokenizer.json", "{}");
    place.run("sample book.pmm").fails(1, &["tokenizer.json"]);
    place.write("book.pmm/tokenizer.json", tokenizer);
    place.run("sample book.pmm --steps 2").ok();
    place.run("predict book.pmm book.txt").fails(1, &["model of texts"]);
}

/// The full-size presets resolve, and say how big they are.
#[test]
fn presets_say_how_big_they_are() {
    let place = place();
    for (preset, weights) in [("text8", 92_000_000..94_000_000), ("text8-tiny", 20_000_000..30_000_000)] {
        let run = place.run(&format!("fit book.txt --preset {preset} --dry-run --json")).ok();
        let value: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
        assert!(weights.contains(&value["weights"].as_u64().unwrap()), "{value}");
        assert!(value["operations_per_step"].as_f64().unwrap() > 1e9);
    }
    assert!(!place.path("book.pmm").exists());
}

/// Killed in the middle and gone on: the same bits as undisturbed; another text is refused.
#[test]
#[cfg(unix)]
fn a_killed_fit_goes_on_bit_for_bit() {
    let settings =
        QUICK.replace("--steps 12", "--steps 60").replace("-q ", "-q --set train.checkpoint_seconds=0 ");
    let whole = place();
    whole.run(&format!("fit book.txt {settings}")).ok();
    let place = place();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("pmm"))
        .current_dir(place.path(""))
        .args(format!("fit book.txt {settings}").split_whitespace())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let step = || {
        let path = place.path("book.pmm/state/checkpoint.safetensors");
        common::step(&path)
    };
    let begun = Instant::now();
    while step().is_none_or(|step| step < 15) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint comes");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let at = step().unwrap();
    assert!((15..60).contains(&at), "killed at {at}");
    place.write("other.txt", book(301));
    place.run("fit other.txt --out book.pmm --resume -q").fails(1, &["was begun with other data"]);
    place
        .run("fit book.txt --resume -q --set net.width=32")
        .fails(1, &["was begun with net.width = 16, not 32"]);
    place.run("fit book.txt --resume -q --threads 1").ok();
    assert_eq!(place.read("book.pmm/weights.safetensors"), whole.read("book.pmm/weights.safetensors"));
}
