//! The server of the page: loopback only, every address begins with a token that nobody can guess.
//!
//! What a page elsewhere in the browser could try is refused: other hosts (a name that someone points at this machine),
//! other origins, bodies beyond a bound. The page's own scripts are the only ones that may run in it. No request names a
//! file of this machine: the page is inside the program, and runs have numbers.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use carom_answers::folder::RESULT;
use carom_answers::page::{Check, EventLook, Exhibit, LONGEST, Request as RunRequest, gallery};
use futures_util::stream;
use serde::{Deserialize, Serialize};

use super::page;
use super::runs::{Run, Runs};
use crate::VERSION;

/// What the page opens with.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Opening {
    /// The gallery.
    Gallery,
    /// A scene.
    Scene {
        /// Its file's name.
        name: String,
        /// Its text.
        text: String,
    },
    /// A run that is in a folder.
    Run {
        /// The folder's name.
        name: String,
        /// The scene's text.
        text: String,
        /// The number of the run.
        id: u64,
    },
}

/// What all requests share.
pub struct Shared {
    /// The runs.
    pub runs: Runs,
    /// What the page opens with.
    pub opening: Opening,
    /// `127.0.0.1:PORT` and `localhost:PORT`.
    pub hosts: [String; 2],
}

/// Everything that the server answers.
pub fn router(token: &str, shared: Arc<Shared>) -> Router {
    let api = Router::new()
        .route("/start", get(start))
        .route("/check", post(check))
        .route("/runs", post(begin))
        .route("/runs/{id}/stream", get(stream_of))
        .route("/runs/{id}/stop", post(stop))
        .route("/runs/{id}/keyframes", get(keyframes))
        .route("/runs/{id}/gap", get(gap))
        .route("/runs/{id}/compare", get(compare))
        .route("/runs/{id}/classify", get(classify))
        .route("/runs/{id}/document", get(document));
    Router::new()
        .nest(&format!("/{token}/api"), api)
        .route(&format!("/{token}/"), get(|| async { file_of("index.html") }))
        .route(&format!("/{token}/{{*name}}"), get(|Path(name): Path<String>| async move { file_of(&name) }))
        .fallback(|| async { StatusCode::NOT_FOUND })
        .layer(DefaultBodyLimit::max(LONGEST))
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
                      media-src blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// Why a request is not answered, if it is not.
fn rejection(hosts: &[String; 2], method: &Method, headers: &HeaderMap) -> Option<StatusCode> {
    let known = |host: &str| hosts.iter().any(|own| own == host);
    let word = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let own_page = |origin: &str| origin.strip_prefix("http://").is_some_and(known);
    if !word(header::HOST).is_some_and(known) || word(header::ORIGIN).is_some_and(|origin| !own_page(origin))
    {
        return Some(StatusCode::FORBIDDEN);
    }
    (method != Method::GET && method != Method::POST).then_some(StatusCode::METHOD_NOT_ALLOWED)
}

/// Refuses requests for other hosts or from other pages, and restricts what the browser may do.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if let Some(status) = rejection(&shared.hosts, request.method(), request.headers()) {
        return status.into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

fn file_of(name: &str) -> Response {
    match page::file(name) {
        Some((bytes, kind)) => {
            ([(header::CONTENT_TYPE, kind), (header::CONTENT_ENCODING, "gzip")], bytes).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[derive(Serialize)]
struct FailureEntry {
    error: String,
}

fn failure(status: StatusCode, error: impl Into<String>) -> Response {
    (status, Json(FailureEntry { error: error.into() })).into_response()
}

#[derive(Serialize)]
struct Start<'a> {
    version: &'static str,
    gallery: Vec<Exhibit>,
    open: &'a Opening,
}

async fn start(State(shared): State<Arc<Shared>>) -> Response {
    Json(Start { version: VERSION, gallery: gallery(), open: &shared.opening }).into_response()
}

async fn check(text: String) -> Response {
    Json(Check::of(text)).into_response()
}

#[derive(Serialize)]
struct Begun {
    id: u64,
}

async fn begin(State(shared): State<Arc<Shared>>, Json(request): Json<RunRequest>) -> Response {
    // Finding the contacts at the start may take a while.
    let begun = tokio::task::spawn_blocking(move || match request.begin() {
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, Json(Check::failed(&error))).into_response(),
        Ok(running) => match shared.runs.begin(running) {
            Ok(run) => (StatusCode::CREATED, Json(Begun { id: run.id })).into_response(),
            Err(_) => failure(StatusCode::TOO_MANY_REQUESTS, "too many runs are in progress: stop one first"),
        },
    });
    begun.await.unwrap_or_else(|error| failure(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

fn run_of(shared: &Shared, id: u64) -> Result<Arc<Run>, Box<Response>> {
    shared.runs.get(id).ok_or_else(|| Box::new(failure(StatusCode::NOT_FOUND, "this run no longer exists")))
}

async fn stream_of(State(shared): State<Arc<Shared>>, Path(id): Path<u64>) -> Response {
    let run = match run_of(&shared, id) {
        Ok(run) => run,
        Err(response) => return *response,
    };
    let news = run.news();
    let chunks = stream::unfold((run, news, 0), |(run, mut news, next)| async move {
        loop {
            let (count, ended) = *news.borrow_and_update();
            if next < count {
                let chunk: Bytes = run.chunk(next)?;
                return Some((Ok::<_, std::io::Error>(chunk), (run, news, next + 1)));
            }
            if ended || news.changed().await.is_err() {
                return None;
            }
        }
    });
    ([(header::CONTENT_TYPE, "application/octet-stream")], Body::from_stream(chunks)).into_response()
}

async fn stop(State(shared): State<Arc<Shared>>, Path(id): Path<u64>) -> Response {
    match run_of(&shared, id) {
        Ok(run) => {
            run.stop();
            StatusCode::NO_CONTENT.into_response()
        }
        Err(response) => *response,
    }
}

#[derive(Deserialize)]
struct Interval {
    from: f64,
    until: f64,
}

/// What happened between two samples of a run, repeated in a thread that may take its time.
async fn keyframes(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<u64>,
    Query(Interval { from, until }): Query<Interval>,
) -> Response {
    let run = match run_of(&shared, id) {
        Ok(run) => run,
        Err(response) => return *response,
    };
    let repeated = tokio::task::spawn_blocking(move || run.before(from)?.keyframes(from, until)).await;
    match repeated {
        Ok(Some(chunk)) => ([(header::CONTENT_TYPE, "application/octet-stream")], chunk).into_response(),
        Ok(None) => failure(StatusCode::UNPROCESSABLE_ENTITY, "this part of the run cannot be repeated"),
        Err(error) => failure(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

#[derive(Deserialize)]
struct EventQuery {
    event: u64,
    span: Option<f64>,
    points: Option<usize>,
}

/// Looks at an event of a run, in a thread that may take its time.
async fn look_at(
    shared: Arc<Shared>,
    id: u64,
    event: u64,
    look: impl FnOnce(&Run, &EventLook) -> Option<Vec<u8>> + Send + 'static,
) -> Response {
    let run = match run_of(&shared, id) {
        Ok(run) => run,
        Err(response) => return *response,
    };
    match tokio::task::spawn_blocking(move || run.look(event, |found| look(&run, found))).await {
        Ok(Some(text)) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Ok(None) => failure(StatusCode::UNPROCESSABLE_ENTITY, "this is not available for this event"),
        Err(error) => failure(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

async fn gap(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<u64>,
    Query(EventQuery { event, span, points }): Query<EventQuery>,
) -> Response {
    look_at(shared, id, event, move |_, look| serde_json::to_vec(&look.gap(span, points)).ok()).await
}

async fn compare(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<u64>,
    Query(query): Query<EventQuery>,
) -> Response {
    look_at(shared, id, query.event, |run, look| look.laws(&run.text)).await
}

async fn classify(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<u64>,
    Query(query): Query<EventQuery>,
) -> Response {
    look_at(shared, id, query.event, |_, look| look.class()).await
}

async fn document(State(shared): State<Arc<Shared>>, Path(id): Path<u64>) -> Response {
    let run = match run_of(&shared, id) {
        Ok(run) => run,
        Err(response) => return *response,
    };
    let Some(document) = run.document() else {
        return failure(StatusCode::CONFLICT, "the run is still in progress");
    };
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(disposition) = HeaderValue::try_from(format!("attachment; filename=\"{RESULT}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    (headers, document).into_response()
}
