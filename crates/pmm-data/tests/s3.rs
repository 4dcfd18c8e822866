//! Tables in an S3-compatible store: the same as on this machine. `.ci/stores` starts a store and runs this.
#![cfg(feature = "s3")]
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use object_store::aws::AmazonS3Builder;
use object_store::{ObjectStoreExt, PutPayload};
use pmm_core::Streams;
use pmm_data::{OutputColumn, Overrides, ReadOptions, Schema, Source, Table, Writer};

/// A file of two columns.
fn write(folder: &Path, name: &str, ids: std::ops::Range<i64>) {
    let columns = [OutputColumn::new("id", DataType::Int64), OutputColumn::new("level", DataType::Utf8)];
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut writer = Writer::create(&path, &columns).unwrap();
    let levels: Vec<&str> = ids.clone().map(|id| ["a", "b", "c"][id as usize % 3]).collect();
    let arrays: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from(ids.map(|id| id * id % 1009).collect::<Vec<_>>()))),
        ("level", Arc::new(StringArray::from(levels))),
    ];
    writer.write(&RecordBatch::try_from_iter(arrays).unwrap()).unwrap();
    writer.finish().unwrap();
}

fn open(path: &str) -> Source {
    Source::open(path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn read(source: &Source) -> (Schema, Table) {
    let schema = Schema::infer(source, &Overrides::default()).unwrap();
    let table = Table::read(source, &schema, usize::MAX, &Streams::new(0)).unwrap().0;
    (schema, table)
}

#[test]
#[ignore = "needs a store at AWS_ENDPOINT_URL with a bucket pmm: .ci/stores starts one"]
fn a_store_is_read_as_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "parquet/year=2020/part-0.parquet",
        "parquet/year=2021/part-1.parquet",
        "csv/part-0.csv",
        "csv/part-1.csv.gz",
        "arrow/part-0.arrow",
        "arrow/part-1.arrow",
        "stream/part-0.arrows",
    ];
    for (number, name) in (0..).zip(names) {
        write(folder.path(), name, number * 20_000..(number + 1) * 20_000);
    }
    let store = AmazonS3Builder::from_env().with_bucket_name("pmm").build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for name in names {
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        runtime.block_on(store.put(&name.into(), PutPayload::from(bytes))).unwrap();
    }
    for place in ["parquet", "csv", "arrow", "stream"] {
        let local = open(&folder.path().join(place).display().to_string());
        let remote = open(&format!("s3://pmm/{place}/"));
        assert_eq!(local.names(), remote.names());
        assert!(read(&local) == read(&remote), "{place}");
        assert_eq!(local.digest().unwrap(), remote.digest().unwrap());
    }
    for name in names {
        let (local, remote) =
            (open(&folder.path().join(name).display().to_string()), open(&format!("s3://pmm/{name}")));
        assert!(read(&local) == read(&remote), "{name}");
    }
    let pattern = open("s3://pmm/parquet/year=*/part-*.parquet");
    assert_eq!(pattern.names(), ["id", "level", "year"]);
    for nothing in ["s3://pmm/nothing/", "s3://pmm/parquet/year=19*/x.parquet", "s3://pmm/nothing.csv"] {
        let error = Source::open(nothing, &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains(nothing), "{error}");
    }
}
