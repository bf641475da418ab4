//! Where the guard is asked. It is known in tests only, which take one of these calls away after the other and look
//! whether it is missed.

#[cfg(test)]
use super::gaps;

/// Where a call of the guard stands.
#[derive(Clone, Copy)]
pub struct Place(#[cfg(test)] &'static std::panic::Location<'static>);

impl Place {
    /// That of the caller's caller: of whoever has `track_caller` in tests.
    #[inline]
    #[cfg_attr(test, track_caller)]
    pub fn here() -> Self {
        Self(
            #[cfg(test)]
            std::panic::Location::caller(),
        )
    }

    /// Whether the call is to be as if it were not there.
    #[inline]
    #[allow(clippy::unused_self, reason = "tests use it")]
    pub fn is_away(self) -> bool {
        #[cfg(test)]
        return gaps::is_away(self.0);
        #[cfg(not(test))]
        false
    }
}
