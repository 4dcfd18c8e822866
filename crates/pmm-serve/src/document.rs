//! The description of the API: one OpenAPI document, made from the requests themselves.

use utoipa::openapi::path::PathItem;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Ref, ResponseBuilder};
use utoipa::{Modify, OpenApi};

use crate::api;
use crate::problem::Problem;

/// The OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    info(title = "pmm", description = "Generative models of your data, on this machine."),
    paths(
        api::server::health, api::server::facts, api::server::metrics, api::server::openapi,
        api::data::list, api::data::upload, api::data::inspect,
        api::models::list, api::models::info, api::models::upload, api::models::schema, api::models::card,
        api::models::report, api::models::preview, api::models::download, api::beside::marginals,
        api::sample::sample, api::tables::impute, api::tables::predict, api::tables::score, api::laws::laws,
        api::texts::infill, api::images::inpaint, api::trace::trace, api::method::method,
        api::fits::list, api::fits::begin, api::fits::status, api::fits::stop, api::fits::resume, api::fits::events,
        api::beside::pair,
    ),
    components(schemas(Problem)),
    security(("token" = [])),
    modifiers(&Token, &Problems)
)]
pub(crate) struct Document;

/// The token that programs send.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        document.components.get_or_insert_default().add_security_scheme("token", scheme);
    }
}

/// What is wrong is told in the same way everywhere.
struct Problems;

impl Modify for Problems {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let problem = || {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
            let words = "What is wrong, and what to do.";
            ResponseBuilder::new().description(words).content("application/problem+json", content).build()
        };
        for item in document.paths.paths.values_mut() {
            let PathItem { get, put, post, .. } = item;
            for operation in [get, put, post].into_iter().flatten() {
                for status in ["4XX", "5XX"] {
                    operation.responses.responses.insert(status.to_owned(), problem().into());
                }
            }
        }
    }
}
