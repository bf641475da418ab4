//! The arrival of a body: so long, so large, and no more.

use super::BODY;
use super::activity::HALF_CLOSED;
use super::connections::{Charge, Seat};
use super::gate::Refusal;
use super::limits::told;
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Bytes, Incoming};
use tokio::time::{Instant, timeout, timeout_at};

//= docs/spec.md#http
//# A request whose head or body is too large MUST be refused, and the server MUST go on.
// Of the head it is hyper that says so.
/// Collects a body. What has arrived counts as pending.
pub(crate) async fn collect(mut body: Incoming, seat: &Seat, charge: &mut Charge<'_>) -> Result<Bytes, Refusal> {
    //= docs/spec.md#http
    //# A body whose length is said to be too large MUST be refused before it comes.
    if body.size_hint().lower() > BODY as u64 {
        tokio::spawn(let_go(body));
        return Err(too_large());
    }
    let limits = seat.connections().limits();
    let end = Instant::now() + limits.body_time;
    let (mut first, mut more) = (Bytes::new(), Vec::new());
    loop {
        let pause = Instant::now() + limits.body_pause;
        //= docs/spec.md#http
        //# A body that does not arrive in time, or that pauses for too long, MUST be answered with status 408.
        let Ok(frame) = timeout_at(end.min(pause), body.frame()).await else {
            let why = match end <= pause {
                true => format!("Request Timeout: the body did not arrive in {}", told(limits.body_time)),
                false => format!("Request Timeout: nothing of the body arrived for {}", told(limits.body_pause)),
            };
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, why));
        };
        let Some(frame) = frame else { break };
        let Ok(frame) = frame else { return Err(Refusal::bad("the body broke off, or its chunks are none")) };
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + more.len() + data.len() > BODY {
            return Err(too_large());
        }
        charge.add(data.len());
        if !seat.connections().relieve() {
            return Err(Refusal::full());
        }
        if first.is_empty() {
            first = data;
        } else {
            more.extend_from_slice(&data);
        }
    }
    seat.activity.has_arrived();
    if more.is_empty() {
        return Ok(first);
    }
    Ok([&first, more.as_slice()].concat().into())
}

/// Takes a part of a body that is refused and forgets it: a client that is still sending would not hear why, if what it
/// sends were not taken at all.
async fn let_go(mut body: Incoming) {
    let mut taken = 0;
    let taking = async {
        while let Some(Ok(frame)) = body.frame().await
            && taken <= 2 * BODY
        {
            taken += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // Whoever takes longer hears it late, or not at all.
    let _ended = timeout(HALF_CLOSED, taking).await;
}

fn too_large() -> Refusal {
    let why = format!("Payload Too Large: a request has at most {BODY} bytes, pass large inputs as paths or URIs");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
}
