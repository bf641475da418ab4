//! A text that is compared and used, and never shown.

/// A secret: its `Debug` shows nothing of it, and comparing takes as long whatever the texts have in common.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Its bytes, for whoever signs with it.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    //= docs/spec.md#http
    //# The token MUST be compared in constant time.
    /// Whether this is the secret. Hashes are compared, and `blake3` compares them in constant time.
    pub(crate) fn is(&self, text: &str) -> bool {
        blake3::hash(self.bytes()) == blake3::hash(text.as_bytes())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#http
    //= type=test
    //# The token MUST be compared in constant time.
    // That time is not measured: what is compared are hashes, whose equality `blake3` documents as constant-time.
    #[test]
    fn a_secret_is_itself_alone_and_is_not_shown() {
        let secret = Secret::new("abc");
        assert!(secret.is("abc"));
        for other in ["", "ab", "abcd", "ABC"] {
            assert!(!secret.is(other), "{other}");
        }
        assert!(!format!("{secret:?}").contains("abc"));
    }
}
