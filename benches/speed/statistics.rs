//! Medians and percentiles of what was measured.

use std::time::Duration;

/// The value below which the part `share` (0 to 1) of the samples is, by the nearest rank. `None` without samples.
pub fn percentile(samples: &[f64], share: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// The middle one; of an even number the lower of the two in the middle.
pub fn median(samples: &[f64]) -> Option<f64> {
    percentile(samples, 0.5)
}

/// Milliseconds.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Microseconds.
pub fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
