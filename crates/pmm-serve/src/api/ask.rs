//! What a request says, taken apart; what is not understood becomes a problem.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::app::Shared;
use crate::problem::Problem;

/// The whole body of a request, if it is not too large.
pub(crate) struct Whole(pub(crate) Bytes);

impl FromRequest<Shared> for Whole {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Shared) -> Result<Self, Problem> {
        let most = app.limits.body;
        let too_large = || {
            Problem::too_large(format!("a request has {most} bytes at most"))
                .remedy("send less at a time, or raise --max-body")
        };
        let length = request.headers().get(axum::http::header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > most) {
            return Err(too_large());
        }
        let bytes =
            axum::body::to_bytes(request.into_body(), usize::try_from(most).unwrap_or(usize::MAX)).await;
        bytes.map(Self).map_err(|error| {
            let text = error.to_string();
            if text.contains("limit") {
                too_large()
            } else {
                Problem::bad(format!("the body did not come: {text}"))
            }
        })
    }
}

impl Whole {
    /// The body as JSON; an empty one says nothing.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let bytes: &[u8] = if self.0.is_empty() { b"{}" } else { &self.0 };
        serde_json::from_slice(bytes)
            .map_err(|error| Problem::bad(format!("the request is not understood: {error}")))
    }
}

/// What stands behind the question mark.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Shared> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Problem> {
        let query = Query::<T>::try_from_uri(&parts.uri);
        query.map(|query| Self(query.0)).map_err(|error| Problem::bad(error.body_text()))
    }
}
