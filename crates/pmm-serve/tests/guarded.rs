//! Who may ask.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Place, TOKEN};

#[test]
fn a_token_is_needed() {
    let place = Place::empty();
    for headers in
        [&[][..], &[("authorization", "Bearer wrong")], &[("authorization", TOKEN)], &[("cookie", "pmm_1=x")]]
    {
        place.raw("GET", "/v1/models", headers, b"").refused(401);
        place.raw("GET", "/metrics", headers, b"").refused(401);
        place.raw("PUT", "/v1/data/a.csv", headers, b"a\n1\n").refused(401);
    }
    assert_eq!(place.get("/v1/models").ok().json(), serde_json::json!([]));
    assert!(place.get("/metrics").ok().text().contains("pmm_responses_total{status=\"4xx\"} 12"));
    // What tells nothing needs none.
    for path in ["/healthz", "/", "/page/main.js", "/openapi.json"] {
        place.raw("GET", path, &[], b"").ok();
    }
}

#[test]
fn a_browser_gets_a_cookie_for_a_link_that_is_good_once() {
    let place = Place::empty();
    let path = place.link.split_once(&place.address.to_string()).unwrap().1;
    let first = place.raw("GET", path, &[], b"");
    assert_eq!((first.status, first.header("location").as_deref()), (303, Some("/")));
    let cookie = first.header("set-cookie").unwrap();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    place.raw("GET", "/v1/models", &[("cookie", cookie)], b"").ok();
    place.raw("GET", "/v1/models", &[("cookie", &format!("other=1; {cookie}; more=2"))], b"").ok();
    place.raw("GET", path, &[], b"").refused(401);
    place.raw("GET", "/?token=", &[], b"").refused(401);
}

#[test]
fn pages_of_others_are_refused() {
    let place = Place::empty();
    let own = format!("http://{}", place.address);
    place.send("GET", "/v1/models", &[("origin", &own)], b"").ok();
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "file://"] {
        place.send("GET", "/v1/models", &[("origin", origin)], b"").refused(403);
    }
    let reply = place.send("OPTIONS", "/v1/models", &[("origin", "http://evil.example")], b"");
    assert!(reply.status >= 400 && reply.header("access-control-allow-origin").is_none());
}

/// A stranger's page whose name was made to point here comes with that name.
#[test]
fn names_that_are_not_ours_are_refused() {
    let place = Place::empty();
    let port = place.address.port();
    place.send("GET", "/v1/models", &[("host", &format!("localhost:{port}"))], b"").ok();
    for host in [
        format!("evil.example:{port}"),
        "127.0.0.1".into(),
        format!("127.0.0.1.evil.example:{port}"),
        String::new(),
    ] {
        place.send("GET", "/v1/models", &[("host", &host)], b"").refused(403);
        place.raw("GET", "/", &[("host", &host)], b"").refused(403);
    }
}

#[test]
fn browsers_are_told_the_rules() {
    let place = Place::empty();
    let page = place.raw("GET", "/", &[], b"").ok();
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.contains("default-src 'none'")
            && policy.contains("frame-ancestors 'none'")
            && !policy.contains("unsafe"),
        "{policy}"
    );
    assert_eq!(page.header("x-content-type-options").as_deref(), Some("nosniff"));
    assert_eq!(page.header("cross-origin-resource-policy").as_deref(), Some("same-origin"));
    assert!(page.header("access-control-allow-origin").is_none());
}
