//! What the arguments of a tool are: the JSON Schema of a type, with all that it refers to.

use serde_json::{Map, Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

const PREFIX: &str = "#/components/schemas/";

/// The schema of a type, complete in itself.
pub(super) fn schema<T: ToSchema>() -> Value {
    let mut others: Vec<(String, RefOr<Schema>)> = Vec::new();
    T::schemas(&mut others);
    let mut schema = plain(&<T as PartialSchema>::schema());
    let defined: Map<String, Value> =
        others.iter().map(|(name, schema)| (name.clone(), plain(schema))).collect();
    if !defined.is_empty() {
        schema["$defs"] = Value::Object(defined);
    }
    schema
}

/// With references to the schema itself, in place of those to a document.
fn plain(schema: &RefOr<Schema>) -> Value {
    let text = serde_json::to_string(schema).unwrap_or_default().replace(PREFIX, "#/$defs/");
    serde_json::from_str(&text).unwrap_or_else(|_| json!({ "type": "object" }))
}
