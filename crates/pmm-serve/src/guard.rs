//! Who may ask: by token, from this server's own pages or from programs, under a name of this machine.
//!
//! The name in `Host` must be one of this server's: a stranger's page whose domain was made to point here (DNS rebinding) has another.
//! A request with an `Origin` must come from a page of ours. A browser gets a cookie for a token that is good once; programs show
//! theirs with every request.

use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::Shared;
use crate::problem::Problem;
use crate::secret;

/// Scripts, styles and pictures of our own only; no frames, no forms to elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What tells friends from strangers.
#[derive(Debug)]
pub(crate) struct Guard {
    address: SocketAddr,
    /// What programs show.
    token: String,
    /// What browsers show, in a cookie.
    session: String,
    /// Good once, for a browser to get its cookie.
    once: Mutex<String>,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, token: Option<String>) -> std::io::Result<Self> {
        let token = token.map_or_else(secret::new, Ok)?;
        Ok(Self { address, token, session: secret::new()?, once: Mutex::new(secret::new()?) })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The address that a browser may open, once.
    pub(crate) fn link(&self) -> String {
        let once = self.once.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        format!("{}/?token={once}", self.origin())
    }

    /// Where the page is.
    pub(crate) fn origin(&self) -> String {
        let ip = match self.address.ip() {
            ip if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
            ip => ip,
        };
        format!("http://{}", SocketAddr::new(ip, self.address.port()))
    }

    /// The cookie for a token that is good; one that is good once is good no more.
    pub(crate) fn exchange(&self, token: &str) -> std::io::Result<Option<HeaderValue>> {
        let mut once = self.once.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if secret::same(token, &once) {
            *once = secret::new()?;
        } else if !secret::same(token, &self.token) {
            return Ok(None);
        }
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie(), self.session);
        HeaderValue::from_str(&cookie).map(Some).map_err(std::io::Error::other)
    }

    /// Cookies do not tell ports apart.
    fn cookie(&self) -> String {
        format!("pmm_{}", self.address.port())
    }

    /// Refuses other names than this server's.
    pub(crate) fn check_host(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
        match self.is_own(host) {
            true => Ok(()),
            false => Err(Problem::forbidden(format!("{host:?} is not a name of this server"))),
        }
    }

    /// Refuses pages of others.
    pub(crate) fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let own = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
        match own.is_some_and(|host| self.is_own(host)) {
            true => Ok(()),
            false => Err(Problem::forbidden("pages of other origins are refused")),
        }
    }

    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse::<u16>().ok()),
            _ => (host, Some(80)),
        };
        if port != Some(self.address.port()) {
            return false;
        }
        let ip = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let bound = self.address.ip();
        match ip {
            // A number is no name: nobody can make it point elsewhere.
            Some(ip) => bound.is_unspecified() || ip == bound || ip.is_loopback() && bound.is_loopback(),
            None => name.eq_ignore_ascii_case("localhost") && (bound.is_loopback() || bound.is_unspecified()),
        }
    }

    /// Refuses whoever shows neither token nor cookie.
    pub(crate) fn check_token(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        if bearer.is_some_and(|token| secret::same(token.trim(), &self.token)) {
            return Ok(());
        }
        let name = self.cookie();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.split_once('='));
        match pairs.any(|(key, value)| key.trim() == name && secret::same(value.trim(), &self.session)) {
            true => Ok(()),
            false => Err(Problem::stranger()),
        }
    }
}

/// Lets requests in, and puts the rules for browsers on what goes out.
pub(crate) async fn guard(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_open = !(path.starts_with("/v1/") || path == "/v1" || path == "/metrics");
    let checked = app.guard.check_host(request.headers()).and_then(|()| {
        app.guard.check_origin(request.headers())?;
        if is_open { Ok(()) } else { app.guard.check_token(request.headers()) }
    });
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    app.metrics.response(response.status().as_u16());
    let headers = response.headers_mut();
    let rules = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    for (name, value) in rules {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Guard {
        Guard::new(address.parse().unwrap(), Some("t".into())).unwrap()
    }

    #[test]
    fn only_names_of_this_machine() {
        let guard = at("127.0.0.1:8000");
        for host in ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"] {
            assert!(guard.is_own(host), "{host}");
        }
        for host in
            ["evil.example:8000", "127.0.0.1", "127.0.0.1:80", "localhost", "", "10.0.0.1:8000", "a:b:8000"]
        {
            assert!(!guard.is_own(host), "{host}");
        }
        let open = at("0.0.0.0:8000");
        assert!(open.is_own("192.168.1.7:8000") && !open.is_own("evil.example:8000"));
        assert!(!at("192.168.1.7:8000").is_own("127.0.0.1:8000"));
    }

    #[test]
    fn a_link_is_good_once() {
        let guard = at("127.0.0.1:8000");
        let link = guard.link();
        let token = link.split_once('=').unwrap().1;
        assert!(guard.exchange(token).unwrap().is_some());
        assert!(guard.exchange(token).unwrap().is_none());
        assert!(guard.exchange("t").unwrap().is_some() && guard.exchange("").unwrap().is_none());
        assert_ne!(guard.link(), link);
    }
}
