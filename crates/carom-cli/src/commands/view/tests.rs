//! The server spoken to as a browser would, and as others would try.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;

use serde_json::{Value, json};

use super::runs::Runs;
use super::server::{Opening, Shared, router};

const TOKEN: &str = "0123456789abcdef";

/// A server at some port, for as long as the test runs.
fn serve() -> u16 {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let port = listener.local_addr().unwrap().port();
            let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
            let shared = Arc::new(Shared { runs: Runs::default(), opening: Opening::Gallery, hosts });
            send.send(port).unwrap();
            axum::serve(listener, router(TOKEN, shared)).await.unwrap();
        });
    });
    receive.recv().unwrap()
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

fn ask(port: u16, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.write_all(request).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let rest = &bytes[end + 4..];
    let body = if head.contains("transfer-encoding: chunked") { unchunked(rest) } else { rest.to_vec() };
    Answer { status, head, body }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        body.extend(&bytes[end + 2..end + 2 + length]);
        bytes = &bytes[end + 4 + length..];
    }
    body
}

fn get(port: u16, path: &str) -> Answer {
    ask(
        port,
        format!("GET /{TOKEN}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")
            .as_bytes(),
    )
}

fn post(port: u16, path: &str, kind: &str, body: &str) -> Answer {
    let head = format!(
        "POST /{TOKEN}/{path} HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\nContent-Type: {kind}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    ask(port, head.as_bytes())
}

fn begin(port: u16, wish: &Value) -> u64 {
    let begun = post(port, "api/runs", "application/json", &wish.to_string());
    assert_eq!(begun.status, 201, "{}", String::from_utf8_lossy(&begun.body));
    begun.json()["id"].as_u64().unwrap()
}

/// The chunks of a stream: kind and payload.
fn chunks(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (kind, length) = (word(0), word(4) as usize);
        assert_eq!(length % 8, 0);
        all.push((kind, &bytes[8..8 + length]));
        bytes = &bytes[8 + length..];
    }
    all
}

fn paradox() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/gallery/paradox.toml");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn strangers_are_turned_away() {
    let port = serve();
    assert_eq!(get(port, "api/start").status, 200);
    let plain = |path: &str, head: &str| {
        ask(port, format!("GET {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n").as_bytes()).status
    };
    let own = format!("Host: 127.0.0.1:{port}\r\n");
    assert_eq!(plain("/", &own), 404);
    assert_eq!(plain("/api/start", &own), 404);
    assert_eq!(plain("/0123456789abcdee/api/start", &own), 404);
    assert_eq!(plain(&format!("/{TOKEN}/api/start"), "Host: evil.example\r\n"), 403);
    assert_eq!(plain(&format!("/{TOKEN}/api/start"), ""), 403);
    assert_eq!(plain(&format!("/{TOKEN}/api/start"), &format!("{own}Origin: http://evil.example\r\n")), 403);
    assert_eq!(plain(&format!("/{TOKEN}/api/start"), &format!("{own}Origin: null\r\n")), 403);
    for path in
        ["../Cargo.toml", "..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/etc/passwd", "assets/..", "api/runs/../../x"]
    {
        assert_eq!(get(port, path).status, 404, "{path}");
    }
    let answer = get(port, "api/start");
    for word in
        ["content-security-policy: default-src 'self'", "referrer-policy: no-referrer", "nosniff", "no-store"]
    {
        assert!(answer.head.contains(word), "{word}: {}", answer.head);
    }
    let long = "a".repeat((8 << 20) + 1);
    assert_eq!(post(port, "api/check", "text/plain", &long).status, 413);
    let put =
        format!("PUT /{TOKEN}/api/check HTTP/1.1\r\n{own}Content-Length: 0\r\nConnection: close\r\n\r\n");
    assert_eq!(ask(port, put.as_bytes()).status, 405);
}

#[test]
fn mistakes_have_their_places() {
    let port = serve();
    let text = "carom = 1\n[[body]]\nname = \"a\"\nshape = { sphere = { radius = -1 } }\nmass = 1\n";
    let checked = post(port, "api/check", "text/plain", text).json();
    assert_eq!(checked["ok"], false);
    let first = &checked["diagnostics"][0];
    assert_eq!((first["line"].as_u64(), first["column"].as_u64()), (Some(4), Some(31)), "{first}");
    assert_eq!((first["end_line"].as_u64(), first["end_column"].as_u64()), (Some(4), Some(33)), "{first}");
    let refused = post(port, "api/runs", "application/json", &json!({ "text": text }).to_string());
    assert_eq!(refused.status, 422);
    assert_eq!(refused.json()["diagnostics"][0]["line"], 4);
    let overlapping = "carom = 1\n[[body]]\nname = \"a\"\nshape = { sphere = { radius = 1 } }\nmass = 1\n\
                       [[body]]\nname = \"b\"\nshape = { sphere = { radius = 1 } }\nmass = 1\nposition = [1, 0, 0]\n";
    let refused = post(port, "api/runs", "application/json", &json!({ "text": overlapping }).to_string());
    assert_eq!(refused.status, 422);
    assert!(refused.json()["diagnostics"][0]["message"].as_str().unwrap().contains("overlaps"));
    for wish in [json!({}), json!({ "text": text, "x": 1 }), json!({ "text": text, "until": -1.0 })] {
        let status = post(port, "api/runs", "application/json", &wish.to_string()).status;
        assert!((400..500).contains(&status), "{wish}: {status}");
    }
    assert_eq!(get(port, "api/runs/77/stream").status, 404);
}

#[test]
fn the_paradox_comes_whole() {
    let port = serve();
    let id = begin(port, &json!({ "text": paradox(), "until": 0.5, "sample": 0.01 }));
    let bytes = get(port, &format!("api/runs/{id}/stream")).body;
    let chunks = chunks(&bytes);
    let of = |kind: u32| chunks.iter().filter(move |chunk| chunk.0 == kind).map(|chunk| chunk.1);
    let header: Value = serde_json::from_slice(of(1).next().unwrap()).unwrap();
    assert_eq!(header["bodies"].as_array().unwrap().len(), 2);
    assert_eq!(header["floats_per_body"], 13);
    let frames: Vec<u8> = of(2).flatten().copied().collect();
    let length = (72 + 2 * 13 * 4_usize).next_multiple_of(8);
    assert_eq!(frames.len(), 51 * length);
    let number = |at: usize| f64::from_le_bytes(frames[at..at + 8].try_into().unwrap());
    assert_eq!(number(50 * length), 0.5);
    // The kinetic energy of the first frame and the last.
    assert!((number(8) / number(50 * length + 8) - 1.0).abs() < 1e-13);
    let events: Vec<Value> = of(3)
        .flat_map(|text| serde_json::from_slice::<Value>(text).unwrap()["events"].as_array().unwrap().clone())
        .collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["hold_begin", "hold_end"]);
    assert!((events[1]["time"].as_f64().unwrap() - 0.140_769_145_833_33).abs() < 1e-12);
    assert_eq!(events[1]["states"].as_array().unwrap().len(), 2);
    let end: Value = serde_json::from_slice(of(5).next().unwrap()).unwrap();
    assert_eq!(end["stopped"], "until");
    assert_eq!(chunks.last().unwrap().0, 5);

    // Held: the gap is nothing; free flight would overlap.
    let curve = get(port, &format!("api/runs/{id}/gap?event=0&span=0.1&points=21")).json();
    let series = |name: &str| -> Vec<f64> {
        curve[name].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let (gap, free) = (series("gap"), series("free"));
    assert_eq!(gap.len(), 21);
    assert!(gap[11..].iter().all(|g| g.abs() < 1e-13), "{gap:?}");
    assert!(gap[0] > 1e-3 && free[20] < -1e-3, "{gap:?} {free:?}");

    let look = get(port, &format!("api/runs/{id}/classify?event=0")).json();
    assert_eq!(look["contact"]["type"], "paradox_2b_star");
    assert!((look["contact"]["g3"].as_f64().unwrap() + 15.318_982_299_576_987).abs() < 1e-9);
    assert!(look["svg"].as_str().unwrap().starts_with("<svg"));
    let laws = get(port, &format!("api/runs/{id}/compare?event=0")).json();
    assert_eq!(laws["laws"].as_object().unwrap().len(), 6);
    assert_eq!(get(port, &format!("api/runs/{id}/compare?event=9")).status, 422);

    let document = get(port, &format!("api/runs/{id}/document")).json();
    assert_eq!(document["events"].as_array().unwrap().len(), 2);
    assert_eq!(document["stopped"], "until");
}

/// Kinetic and potential energy of the first frame, and the energy before the first event.
fn first_energies(port: u16, text: &str) -> (f64, f64) {
    let id = begin(port, &json!({ "text": text }));
    let bytes = get(port, &format!("api/runs/{id}/stream")).body;
    let chunks = chunks(&bytes);
    let of = |kind: u32| chunks.iter().find(|chunk| chunk.0 == kind).unwrap().1;
    let number = |at: usize| f64::from_le_bytes(of(2)[at..at + 8].try_into().unwrap());
    let events: Value = serde_json::from_slice(of(3)).unwrap();
    (number(8) + number(16), events["events"][0]["energy_before"].as_f64().unwrap())
}

#[test]
fn frames_have_the_energy_of_springs() {
    let port = serve();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/gallery/spring_at_a_wall.toml");
    let text = std::fs::read_to_string(path).unwrap();
    // The spring is stretched by half a metre, ½ · 40 N/m · (0.5 m)²; its damper takes some of that until the first impact.
    let (frame, event) = first_energies(port, &text);
    assert_eq!(frame, 5.0);
    assert!((4.8..4.83).contains(&event), "{event}");
    let undamped = text.replace("damping = 0.5", "damping = 0");
    let (frame, event) = first_energies(port, &undamped);
    assert!((frame - event).abs() < 1e-13 * event, "{frame} {event}");
}

#[test]
fn a_long_run_can_be_stopped_and_read_by_many() {
    let port = serve();
    let text = "carom = 1\n[[body]]\nname = \"a\"\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nvelocity = [1, 0, 0]\n\
                [[plane]]\nname = \"left\"\nnormal = [1, 0, 0]\noffset = -1\n[[plane]]\nname = \"right\"\nnormal = [-1, 0, 0]\n\
                offset = -1\n";
    let wish = json!({ "text": text, "until": 1e9, "max_events": 1_000_000_000, "sample": 1e6 });
    let id = begin(port, &wish);
    let readers: Vec<_> = (0..2)
        .map(|_| std::thread::spawn(move || get(port, &format!("api/runs/{id}/stream")).body))
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(get(port, &format!("api/runs/{id}/document")).status, 409);
    assert_eq!(post(port, &format!("api/runs/{id}/stop"), "text/plain", "").status, 204);
    let bytes: Vec<Vec<u8>> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
    assert_eq!(bytes[0], bytes[1]);
    let chunks = chunks(&bytes[0]);
    let end: Value = serde_json::from_slice(chunks.last().unwrap().1).unwrap();
    assert_eq!(end["stopped"], "interrupted");
    // Only a few at one time.
    let begun: Vec<u64> = (0..4).map(|_| begin(port, &wish)).collect();
    assert_eq!(post(port, "api/runs", "application/json", &wish.to_string()).status, 429);
    for id in begun {
        post(port, &format!("api/runs/{id}/stop"), "text/plain", "");
    }
}
