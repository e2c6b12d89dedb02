//! The answers as WebAssembly: what the server of `carom view` does, for a page without a server.
//!
//! The page's worker (`viewer/src/engine.worker.ts`) writes a question into [`carom_room`], asks with [`carom_ask`], and reads the answer at
//! [`carom_answer`]. A question is JSON, a [`desk::Question`]; an answer is u32 status as in HTTP, u32 whether there is more to come,
//! and then JSON or chunks. There is no clock and no thread here: a run goes on while it is asked to, and the worker looks at the clock.

pub mod desk;

use std::cell::RefCell;

use desk::Desk;

/// All that lasts between two questions.
#[derive(Default)]
struct Talk {
    question: Vec<u8>,
    answer: Vec<u8>,
    desk: Desk,
}

thread_local! {
    static TALK: RefCell<Talk> = RefCell::default();
}

/// Makes room for a question of so many bytes, and says where.
#[allow(unsafe_code, reason = "a name that JavaScript finds; no other function has it")]
#[unsafe(no_mangle)]
pub extern "C" fn carom_room(length: usize) -> *mut u8 {
    TALK.with_borrow_mut(|talk| {
        talk.question.clear();
        talk.question.resize(length, 0);
        talk.question.as_mut_ptr()
    })
}

/// Answers the question, and returns the length of the answer.
#[allow(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
pub extern "C" fn carom_ask() -> usize {
    TALK.with_borrow_mut(|talk| {
        talk.answer = talk.desk.answer(&talk.question).into_bytes();
        talk.answer.len()
    })
}

/// Where the answer is, until the next question.
#[allow(unsafe_code, reason = "as above")]
#[unsafe(no_mangle)]
pub extern "C" fn carom_answer() -> *const u8 {
    TALK.with_borrow(|talk| talk.answer.as_ptr())
}
