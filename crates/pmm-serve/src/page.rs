//! The page: a few files that are part of the program.

use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::api::ask::Asked;
use crate::app::Shared;
use crate::problem::Problem;

/// Name, type and contents of a file.
type PageFile = (&'static str, &'static str, &'static str);

const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! script {
    ($name:literal) => {
        ($name, SCRIPT, include_str!(concat!("../page/", $name)))
    };
}

const FILES: [PageFile; 21] = [
    ("style.css", "text/css; charset=utf-8", include_str!("../page/style.css")),
    ("icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
    script!("main.js"),
    script!("api.js"),
    script!("dom.js"),
    script!("charts.js"),
    script!("heat.js"),
    script!("stepper.js"),
    script!("zip.js"),
    script!("home.js"),
    script!("inspect.js"),
    script!("watch.js"),
    script!("beside.js"),
    script!("ask_table.js"),
    script!("check_table.js"),
    script!("ask_text.js"),
    script!("ask_image.js"),
    script!("inside.js"),
    script!("method.js"),
    script!("take_away.js"),
    script!("download.js"),
];

/// What the address may bring along.
#[derive(Debug, Deserialize)]
pub(crate) struct Opening {
    token: Option<String>,
}

/// The page; with a token that is good, the cookie for all that follows.
pub(crate) async fn index(
    State(app): State<Shared>,
    Asked(opening): Asked<Opening>,
) -> Result<Response, Problem> {
    let Some(token) = opening.token else {
        let page = include_str!("../page/index.html");
        return Ok(([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response());
    };
    let failed = |error: std::io::Error| Problem::internal(error.to_string());
    let Some(cookie) = app.guard.exchange(&token).map_err(failed)? else {
        return Err(Problem::stranger()
            .remedy("this address was used before: open the last one that pmm serve printed"));
    };
    app.links.send_replace(app.guard.link());
    let home = HeaderValue::from_static("/");
    Ok((StatusCode::SEE_OTHER, [(header::SET_COOKIE, cookie), (header::LOCATION, home)]).into_response())
}

/// A file of the page.
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, Problem> {
    let found = FILES.iter().find(|(known, ..)| *known == name);
    let (_, kind, contents) = found.ok_or_else(|| Problem::missing(format!("there is no {name}")))?;
    Ok(([(header::CONTENT_TYPE, *kind)], *contents).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page asks nobody but its own server.
    #[test]
    fn nothing_comes_from_elsewhere() {
        let page = include_str!("../page/index.html");
        for (name, contents) in
            FILES.iter().map(|(name, _, contents)| (*name, *contents)).chain([("index.html", page)])
        {
            let own = contents.replace("http://www.w3.org/2000/svg", "");
            assert!(
                !own.contains("http://") && !own.contains("https://") && !own.contains("@import"),
                "{name}"
            );
            assert!(!own.contains("innerHTML") && !own.contains("eval("), "{name}");
        }
        assert!(
            !page.contains("<style") && !page.contains(" style=") && !page.contains(" on"),
            "inline parts"
        );
    }
}
