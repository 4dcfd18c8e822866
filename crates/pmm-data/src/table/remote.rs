//! Files in an S3-compatible store, `s3://bucket/folder/file.parquet`, read where they lie. How the store is reached is in the environment:
//! AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL, AWS_ALLOW_HTTP.

use std::io;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use tokio::runtime::Runtime;

use super::error::ReadError;

/// A file in a store.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    store: Arc<AmazonS3>,
    key: Key,
    length: u64,
}

/// The bucket of an address, and what follows its name.
fn bucket(address: &str) -> Result<(Arc<AmazonS3>, &str), ReadError> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build();
    Ok((Arc::new(store.map_err(|error| failed(address, &error))?), key))
}

fn failed(address: &str, error: &object_store::Error) -> ReadError {
    ReadError::Io { path: address.to_owned(), source: io::Error::other(error.to_string()) }
}

/// What waits for answers of the network.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let build = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().ok();
    let missing = || io::Error::other("no thread could be started for the network");
    RUNTIME.get_or_init(build).as_ref().ok_or_else(missing)
}

fn running(address: &str) -> Result<&'static Runtime, ReadError> {
    runtime().map_err(|source| ReadError::Io { path: address.to_owned(), source })
}

/// The addresses of all files under an address that ends in `/`, or of those that match a pattern; none if it is one file.
pub(crate) fn list(address: &str) -> Result<Option<Vec<String>>, ReadError> {
    let is_pattern = address.contains(['*', '?', '[']);
    if !is_pattern && !address.ends_with('/') {
        return Ok(None);
    }
    let (store, key) = bucket(address)?;
    let fixed = key.split(['*', '?', '[']).next().unwrap_or_default();
    let folder = Key::from(fixed.rsplit_once('/').map_or("", |(folder, _)| folder));
    let objects: Result<Vec<ObjectMeta>, _> =
        running(address)?.block_on(store.list(Some(&folder)).try_collect());
    let root = &address[..address.len() - key.len()];
    let addresses = objects.map_err(|error| failed(address, &error))?;
    let addresses = addresses.iter().map(|object| format!("{root}{}", object.location));
    if !is_pattern {
        return Ok(Some(addresses.collect()));
    }
    let wrong =
        |error: glob::PatternError| ReadError::Columnar { path: address.into(), reason: error.msg.into() };
    let (pattern, mut options) = (glob::Pattern::new(address).map_err(wrong)?, glob::MatchOptions::new());
    options.require_literal_separator = true;
    Ok(Some(addresses.filter(|address| pattern.matches_with(address, options)).collect()))
}

impl Remote {
    /// Asks how long a file is.
    pub(crate) fn open(address: &str) -> Result<Self, ReadError> {
        let (store, key) = bucket(address)?;
        let key = Key::from(key);
        let about = running(address)?.block_on(store.head(&key)).map_err(|error| failed(address, &error))?;
        Ok(Self { store, key, length: about.size })
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn range(&self, range: Range<u64>) -> io::Result<Bytes> {
        runtime()?.block_on(self.store.get_range(&self.key, range)).map_err(io::Error::other)
    }
}
