//! The server: its socket, its routes, its end.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware;
use axum::routing::{get, post};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutBody;

use crate::api;
use crate::app::{App, Shared};
use crate::fits::Fits;
use crate::guard::{Guard, guard};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::page;
use crate::problem::Problem;
use crate::shelf::Shelf;
use crate::work::Workers;
use crate::workspace::Workspace;

/// How long what is under way may take when the server is told to end.
const FAREWELL: Duration = Duration::from_secs(10);

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The folder cannot be served.
    #[error("{}: {source}", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The address cannot be had.
    #[error("{address}: {source}")]
    Address {
        /// Which.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// A token that a header cannot carry.
    #[error("a token has letters, digits and signs, 8 at least, and no blanks")]
    Token,
    /// The system has no threads or no randomness to give.
    #[error("the system says no: {0}")]
    System(std::io::Error),
}

/// A server of one folder.
///
/// ```
/// # let runtime = tokio::runtime::Runtime::new()?;
/// # runtime.block_on(async {
/// let folder = tempfile::tempdir()?;
/// let options = pmm_serve::Options { folder: folder.path().into(), ..Default::default() };
/// let server = pmm_serve::Server::bind(options).await?;
/// assert!(server.address().ip().is_loopback() && server.link().contains("/?token="));
/// server.run(async {}).await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Shared,
}

impl Server {
    /// Takes the folder and the address.
    pub async fn bind(options: Options) -> Result<Self, StartError> {
        let plain = |token: &String| token.len() >= 8 && token.chars().all(|c| c.is_ascii_graphic());
        if !options.token.as_ref().is_none_or(plain) {
            return Err(StartError::Token);
        }
        let workspace = Workspace::open(&options.folder)
            .map_err(|source| StartError::Folder { folder: options.folder.clone(), source })?;
        let address = SocketAddr::new(options.host, options.port);
        let taken = |source| StartError::Address { address, source };
        let listener = TcpListener::bind(address).await.map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        let guard = Guard::new(address, options.token).map_err(StartError::System)?;
        let metrics = Arc::new(Metrics::default());
        let app = App {
            shelf: Shelf::default(),
            workers: Workers::new(options.limits, metrics.clone()),
            fits: Fits::open(&workspace).map_err(StartError::System)?,
            links: watch::Sender::new(guard.link()),
            guard,
            limits: options.limits,
            metrics,
            read_only: options.read_only,
            closing: watch::Sender::new(false),
            workspace,
        };
        Ok(Self { listener, address, app: Arc::new(app) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that a browser may open, once; then there is another.
    pub fn link(&self) -> String {
        self.app.guard.link()
    }

    /// Hears of every new such address.
    pub fn links(&self) -> watch::Receiver<String> {
        self.app.links.subscribe()
    }

    /// What programs show.
    pub fn token(&self) -> &str {
        self.app.guard.token()
    }

    /// Serves until `end`; then what is under way is finished, fits are stopped, and what they have learned is kept.
    pub async fn run(self, end: impl Future<Output = ()>) {
        let Self { listener, app, .. } = self;
        let (router, graceful) = (router(app.clone()), GracefulShutdown::new());
        let connections = Arc::new(Semaphore::new(app.limits.connections));
        let mut end = std::pin::pin!(end);
        loop {
            let permit = tokio::select! {
                permit = connections.clone().acquire_owned() => permit,
                () = &mut end => break,
            };
            let stream = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut end => break,
            };
            let Ok((stream, _)) = stream else {
                // Out of file handles, mostly: some will be free soon.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let served = serve(stream, router.clone(), app.limits.patience, &graceful);
            tokio::spawn(async move {
                served.await;
                drop(permit);
            });
        }
        drop(listener);
        app.closing.send_replace(true);
        let fits = app.clone();
        let stopping = tokio::task::spawn_blocking(move || fits.fits.close());
        let _ = tokio::time::timeout(FAREWELL, graceful.shutdown()).await;
        let _ = stopping.await;
    }
}

/// One connection.
fn serve(
    stream: TcpStream,
    router: Router,
    patience: u64,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + use<> {
    let _ = stream.set_nodelay(true);
    let patience = Duration::from_secs(patience);
    let service = service_fn(move |request: Request<Incoming>| {
        // A body that does not come is not waited for.
        let request = request.map(|body| Body::new(TimeoutBody::new(patience, body)));
        hyper::service::Service::call(&TowerToHyperService::new(router.clone()), request)
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(patience);
    let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), service));
    async move {
        // A client that goes is no failure of ours.
        let _ = connection.await;
    }
}

fn router(app: Shared) -> Router {
    let models = Router::new()
        .route("/", get(api::models::list))
        .route("/{name}", get(api::models::info).put(api::models::upload))
        .route("/{name}/schema", get(api::models::schema))
        .route("/{name}/card", get(api::models::card))
        .route("/{name}/report", get(api::models::report))
        .route("/{name}/preview", get(api::models::preview))
        .route("/{name}/archive", get(api::models::download))
        .route("/{name}/marginals", get(api::beside::marginals))
        .route("/{name}/trace", get(api::trace::trace))
        .route("/{name}/sample", post(api::sample::sample))
        .route("/{name}/impute", post(api::tables::impute))
        .route("/{name}/predict", post(api::tables::predict))
        .route("/{name}/score", post(api::tables::score))
        .route("/{name}/laws", post(api::laws::laws))
        .route("/{name}/infill", post(api::texts::infill))
        .route("/{name}/inpaint", post(api::images::inpaint));
    let fits = Router::new()
        .route("/", get(api::fits::list).post(api::fits::begin))
        .route("/{name}", get(api::fits::status))
        .route("/{name}/events", get(api::fits::events))
        .route("/{name}/pair", get(api::beside::pair))
        .route("/{name}/stop", post(api::fits::stop))
        .route("/{name}/resume", post(api::fits::resume));
    let data = Router::new()
        .route("/", get(api::data::list))
        .route("/{name}", axum::routing::put(api::data::upload))
        .route("/{name}/inspect", post(api::data::inspect));
    Router::new()
        .route("/", get(page::index))
        .route("/page/{name}", get(page::file))
        .route("/healthz", get(api::server::health))
        .route("/metrics", get(api::server::metrics))
        .route("/openapi.json", get(api::server::openapi))
        .route("/v1", get(api::server::facts))
        .route("/v1/method/{pair}", get(api::method::method))
        .nest("/v1/models", models)
        .nest("/v1/fits", fits)
        .nest("/v1/data", data)
        .fallback(async || Problem::missing("there is nothing here"))
        .method_not_allowed_fallback(async || Problem::method())
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
            axum::response::IntoResponse::into_response(Problem::internal(
                "this is a bug: the request ended in a panic",
            ))
        }))
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}
