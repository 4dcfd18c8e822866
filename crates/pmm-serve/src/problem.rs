//! What a client is told when something cannot be done: `application/problem+json` (RFC 9457) with column and value.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pmm::Error;
use serde::Serialize;
use utoipa::ToSchema;

/// Why a request was not done.
#[derive(Debug, Clone, Serialize, ToSchema, thiserror::Error)]
#[error("{detail}")]
pub struct Problem {
    /// The kind of problem, in a few words.
    pub title: &'static str,
    /// The status of the response.
    pub status: u16,
    /// What is wrong, with place and value.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The column that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The value that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

impl Problem {
    fn new(status: StatusCode, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            title,
            status: status.as_u16(),
            detail: detail.into(),
            remedy: None,
            column: None,
            value: None,
        }
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The request makes no sense.
    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "not understood", detail)
    }

    /// Somebody who has shown no token.
    pub(crate) fn stranger() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "no token", "a token is needed")
            .remedy("open the address that pmm serve prints, or send Authorization: Bearer TOKEN")
    }

    /// Somebody from elsewhere, or something that is not allowed.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "not allowed", detail)
    }

    pub(crate) fn missing(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not found", detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "does not fit here", detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too large", detail)
    }

    pub(crate) fn refused(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "cannot be done", detail)
    }

    pub(crate) fn busy() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many requests wait for their turn")
            .remedy("ask again in a few seconds")
    }

    pub(crate) fn stopped(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopped", detail)
    }

    pub(crate) fn unacceptable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "no such format", detail)
    }

    pub(crate) fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "not allowed", "this is asked for in another way")
    }

    /// The server's own fault.
    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", detail)
    }

    /// What the library says.
    pub(crate) fn of(error: &Error) -> Self {
        let detail = error.to_string();
        let mut problem = match error {
            Error::NotAModel { .. } => Self::missing(detail),
            Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Self::missing(detail)
            }
            Error::Io { .. } | Error::Picture(_) => Self::internal(detail),
            Error::ModelExists { .. }
            | Error::FolderInUse { .. }
            | Error::NothingToResume { .. }
            | Error::Locked(_)
            | Error::Unfinished { .. }
            | Error::OtherKind { .. } => Self::conflict(detail),
            Error::Stopped => Self::stopped("it took longer than is allowed"),
            _ => Self::refused(detail),
        };
        problem.remedy = error.remedy();
        let (column, value) = error.about();
        (problem.column, problem.value) = (column.map(str::to_owned), value.map(str::to_owned));
        problem
    }

    /// Without the path of the folder: clients know names in it.
    pub(crate) fn within(mut self, folder: &std::path::Path) -> Self {
        let prefix = format!("{}{}", folder.display(), std::path::MAIN_SEPARATOR);
        self.detail = self.detail.replace(&prefix, "");
        self
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
