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
use carom::scene::model::OnParadox;
use carom::scene::{Diagnostic, Format};
use carom_answers::run::{Changes, Running};
use carom_answers::{Input, Refusal};
use futures_util::stream;
use serde::{Deserialize, Serialize};

use super::reel::thinned;
use super::runs::{Run, Runs};
use super::{look, page};
use crate::VERSION;

/// The longest scene that the page may send, in bytes.
const LONGEST: usize = 8 << 20;

/// The most bodies of a run in the page.
const MOST_BODIES: usize = 100_000;

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
fn refusal(hosts: &[String; 2], method: &Method, headers: &HeaderMap) -> Option<StatusCode> {
    let known = |host: &str| hosts.iter().any(|own| own == host);
    let word = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let own_page = |origin: &str| origin.strip_prefix("http://").is_some_and(known);
    if !word(header::HOST).is_some_and(known) || word(header::ORIGIN).is_some_and(|origin| !own_page(origin))
    {
        return Some(StatusCode::FORBIDDEN);
    }
    (method != Method::GET && method != Method::POST).then_some(StatusCode::METHOD_NOT_ALLOWED)
}

/// Refuses who comes by another name or from another page, and binds the browser's hands.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if let Some(status) = refusal(&shared.hosts, request.method(), request.headers()) {
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
        Some((bytes, kind)) => ([(header::CONTENT_TYPE, kind)], bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[derive(Serialize)]
struct Trouble {
    error: String,
}

fn trouble(status: StatusCode, error: impl Into<String>) -> Response {
    (status, Json(Trouble { error: error.into() })).into_response()
}

fn json_text(text: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

#[derive(Serialize)]
struct Start<'a> {
    version: &'static str,
    gallery: Vec<page::Exhibit>,
    open: &'a Opening,
}

async fn start(State(shared): State<Arc<Shared>>) -> Response {
    Json(Start { version: VERSION, gallery: page::gallery(), open: &shared.opening }).into_response()
}

/// A diagnostic with its place as an editor counts: lines and characters from one.
#[derive(Serialize)]
struct Marked {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    path: Option<String>,
    message: String,
    expected: Option<String>,
}

fn marked(text: &str, diagnostic: &Diagnostic) -> Marked {
    let marked = text.get(diagnostic.span.clone()).unwrap_or_default();
    let lines = marked.matches('\n').count();
    let tail = marked.rsplit('\n').next().unwrap_or_default().chars().count();
    let column = if lines == 0 { diagnostic.column + tail } else { tail + 1 };
    Marked {
        line: diagnostic.line,
        column: diagnostic.column,
        end_line: diagnostic.line + lines,
        end_column: column,
        path: diagnostic.field.clone(),
        message: diagnostic.message.clone(),
        expected: diagnostic.expected.clone(),
    }
}

#[derive(Serialize)]
struct Faults {
    ok: bool,
    diagnostics: Vec<Marked>,
}

fn faults(text: &str, diagnostics: &[Diagnostic]) -> Json<Faults> {
    Json(Faults { ok: false, diagnostics: diagnostics.iter().map(|d| marked(text, d)).collect() })
}

fn refused(refusal: &Refusal) -> Response {
    let faults = faults(refusal.text().unwrap_or_default(), &refusal.diagnostics);
    (StatusCode::UNPROCESSABLE_ENTITY, faults).into_response()
}

#[derive(Serialize)]
struct Sound {
    ok: bool,
    title: Option<String>,
    bodies: usize,
    warnings: Vec<Marked>,
}

async fn check(text: String) -> Response {
    match carom::scene::file::read(&text, Format::guess(&text)) {
        Ok(scene) => {
            let bodies = scene.bodies.len() + scene.fills.iter().map(|fill| fill.count).sum::<usize>();
            let warnings = scene.warnings.iter().map(|w| marked(&text, w)).collect();
            Json(Sound { ok: true, title: scene.title, bodies, warnings }).into_response()
        }
        Err(diagnostics) => faults(&text, &diagnostics).into_response(),
    }
}

/// What the page asks to run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    text: String,
    until: Option<f64>,
    sample: Option<f64>,
    max_events: Option<usize>,
    on_paradox: Option<String>,
}

impl Wish {
    fn changes(&self) -> Result<Changes, String> {
        let sound = |x: &Option<f64>| x.is_none_or(|x| x.is_finite() && x >= 0.0);
        if !sound(&self.until) || !sound(&self.sample) || self.max_events == Some(0) {
            return Err("until and sample are numbers, at least 0; max_events is at least 1".to_string());
        }
        let on_paradox = match &self.on_paradox {
            None => None,
            Some(name) => {
                let choice = OnParadox::ALL.into_iter().find(|choice| choice.name() == name);
                Some(choice.ok_or("on_paradox is hold, pass or stop")?)
            }
        };
        Ok(Changes {
            until: self.until,
            max_events: self.max_events,
            sample: self.sample,
            on_paradox,
            ..Changes::default()
        })
    }
}

#[derive(Serialize)]
struct Begun {
    id: u64,
}

async fn begin(State(shared): State<Arc<Shared>>, Json(wish): Json<Wish>) -> Response {
    let changes = match wish.changes() {
        Ok(changes) => changes,
        Err(error) => return trouble(StatusCode::BAD_REQUEST, error),
    };
    // Finding out who touches whom at the start may take a while.
    let begun = tokio::task::spawn_blocking(move || prepare(&shared, wish.text, changes)).await;
    begun.unwrap_or_else(|error| trouble(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

fn prepare(shared: &Shared, text: String, mut changes: Changes) -> Response {
    let subject = match Input::of_text("scene", text, None).scene() {
        Ok(subject) => subject,
        Err(refusal) => return refused(&refusal),
    };
    let scene = &subject.scene;
    let bodies = scene.bodies.len() + scene.fills.iter().map(|fill| fill.count).sum::<usize>();
    if bodies > MOST_BODIES {
        let error = format!("{bodies} bodies are more than the page shows: at most {MOST_BODIES}");
        return trouble(StatusCode::UNPROCESSABLE_ENTITY, error);
    }
    let (sample, until) =
        (changes.sample.unwrap_or(scene.run.sample), changes.until.unwrap_or(scene.run.until));
    changes.sample = Some(thinned(sample, until, bodies));
    match Running::begin(subject, changes, |_| true) {
        Err(refusal) => refused(&refusal),
        Ok(running) => match shared.runs.begin(running) {
            Ok(run) => (StatusCode::CREATED, Json(Begun { id: run.id })).into_response(),
            Err(_) => trouble(StatusCode::TOO_MANY_REQUESTS, "other runs are still at work: stop one first"),
        },
    }
}

fn run_of(shared: &Shared, id: u64) -> Result<Arc<Run>, Box<Response>> {
    shared
        .runs
        .get(id)
        .ok_or_else(|| Box::new(trouble(StatusCode::NOT_FOUND, "there is no such run any more")))
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
struct EventQuery {
    event: u64,
    span: Option<f64>,
    points: Option<usize>,
}

/// Looks at an event of a run, in a thread that may take its time.
async fn look_at(
    shared: Arc<Shared>,
    id: u64,
    look: impl FnOnce(&Run) -> Option<Vec<u8>> + Send + 'static,
) -> Response {
    let run = match run_of(&shared, id) {
        Ok(run) => run,
        Err(response) => return *response,
    };
    match tokio::task::spawn_blocking(move || look(&run)).await {
        Ok(Some(text)) => json_text(text),
        Ok(None) => trouble(StatusCode::UNPROCESSABLE_ENTITY, "this event has no such look"),
        Err(error) => trouble(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

async fn gap(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<u64>,
    Query(query): Query<EventQuery>,
) -> Response {
    let span = query.span.filter(|span| span.is_finite() && *span > 0.0).unwrap_or(0.1);
    let points = query.points.unwrap_or(201);
    look_at(shared, id, move |run| serde_json::to_vec(&look::curve(run, query.event, span, points)?).ok())
        .await
}

async fn compare(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<u64>,
    Query(query): Query<EventQuery>,
) -> Response {
    look_at(shared, id, move |run| look::laws(run, query.event)).await
}

async fn classify(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<u64>,
    Query(query): Query<EventQuery>,
) -> Response {
    look_at(shared, id, move |run| look::class(run, query.event)).await
}

async fn document(State(shared): State<Arc<Shared>>, Path(id): Path<u64>) -> Response {
    let run = match run_of(&shared, id) {
        Ok(run) => run,
        Err(response) => return *response,
    };
    let Some(document) = run.document() else {
        return trouble(StatusCode::CONFLICT, "the run is still at work");
    };
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
        .insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"run.json\""));
    (headers, document).into_response()
}
