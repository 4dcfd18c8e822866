//! The description of the API: one OpenAPI document, made from the requests themselves.

use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::api;

/// The OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    info(title = "pmm", description = "Generative models of your data, on this machine."),
    paths(
        api::server::health, api::server::facts, api::server::metrics, api::server::openapi,
        api::data::list, api::data::upload, api::data::inspect,
        api::models::list, api::models::info, api::models::upload, api::models::schema, api::models::card,
        api::models::report, api::models::preview, api::models::download, api::models::marginals,
        api::sample::sample, api::tables::impute, api::tables::predict, api::tables::score, api::laws::laws,
        api::texts::infill, api::images::inpaint, api::trace::trace, api::method::method,
        api::fits::list, api::fits::begin, api::fits::status, api::fits::stop, api::fits::resume, api::fits::events,
    ),
    security(("token" = [])),
    modifiers(&Token)
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
