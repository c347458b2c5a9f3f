//! The files of a folder in memory, found by the path of a request.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use bytes::Bytes;
use hyper::header::HeaderValue;

use crate::ServeError;

/// One file, ready to be sent.
#[derive(Clone)]
pub struct Page {
    pub body: Bytes,
    pub content_type: HeaderValue,
    pub content_length: HeaderValue,
}

impl Page {
    pub fn new(body: Bytes, content_type: &'static str) -> Self {
        let content_length = HeaderValue::from(body.len());
        Self { body, content_type: HeaderValue::from_static(content_type), content_length }
    }
}

/// What is served: a folder, or one built-in page at every path.
pub enum Corpus {
    Files(HashMap<String, Page>),
    Everywhere(Page),
}

impl Corpus {
    pub fn built_in(bytes: usize) -> Self {
        let line = b"bakeoff built-in page, 64 bytes per line, the same on each run\n\n";
        let body: Vec<u8> = line.iter().copied().cycle().take(bytes).collect();
        Self::Everywhere(Page::new(body.into(), "text/html"))
    }

    /// Reads all regular files under `root`. Links are not followed: a served folder must not lead out of itself.
    pub fn load(root: &Path, most_bytes: u64) -> Result<Self, ServeError> {
        let mut files = HashMap::new();
        let mut left = most_bytes;
        let mut folders = vec![(root.to_owned(), String::from("/"))];
        while let Some((folder, prefix)) = folders.pop() {
            let entries = fs::read_dir(&folder).map_err(|e| unreadable(&folder, &e))?;
            for entry in entries {
                let entry = entry.map_err(|e| unreadable(&folder, &e))?;
                let path = entry.path();
                let Ok(name) = entry.file_name().into_string() else { continue };
                let kind = entry.file_type().map_err(|e| unreadable(&path, &e))?;
                let key = format!("{prefix}{name}");
                if kind.is_dir() {
                    folders.push((path, key + "/"));
                } else if kind.is_file() {
                    let bytes = entry.metadata().map_err(|e| unreadable(&path, &e))?.len();
                    left = left.checked_sub(bytes).ok_or_else(|| too_large(root, most_bytes))?;
                    let body = fs::read(&path).map_err(|e| unreadable(&path, &e))?;
                    add(&mut files, key, Page::new(body.into(), content_type(&name)));
                }
            }
        }
        Ok(Self::Files(files))
    }

    /// The page at the path of a request (without its query).
    pub fn find(&self, path: &str) -> Option<&Page> {
        match self {
            Self::Everywhere(page) => Some(page),
            Self::Files(files) => files.get(path).or_else(|| files.get(&decoded(path)?)),
        }
    }
}

/// `index.html` also answers for its folder.
fn add(files: &mut HashMap<String, Page>, key: String, page: Page) {
    if let Some(folder) = key.strip_suffix("index.html").filter(|folder| folder.ends_with('/')) {
        files.insert(folder.to_owned(), page.clone());
    }
    files.insert(key, page);
}

fn unreadable(path: &Path, error: &io::Error) -> ServeError {
    ServeError::Start(format!("cannot read {}: {error}; give the folder of a corpus as root", path.display()))
}

fn too_large(root: &Path, most_bytes: u64) -> ServeError {
    ServeError::Start(format!(
        "{} holds more than {most_bytes} bytes; raise memory_bytes or serve a smaller folder",
        root.display()
    ))
}

fn content_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "txt" => "text/plain",
        "js" => "text/javascript",
        "json" => "application/json",
        "xml" => "application/xml",
        "pdf" => "application/pdf",
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// The path with its `%XX` resolved; `None` when it has none or they are malformed.
fn decoded(path: &str) -> Option<String> {
    if !path.contains('%') {
        return None;
    }
    let mut bytes = path.bytes();
    let mut plain = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            plain.push((high * 16 + low) as u8);
        } else {
            plain.push(byte);
        }
    }
    String::from_utf8(plain).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_escapes_are_resolved_and_bad_ones_refused() {
        assert_eq!(decoded("/a%20b%2Fc").as_deref(), Some("/a b/c"));
        for bad in ["/plain", "/%", "/%2", "/%zz", "/%ff"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_built_in_page_has_its_size_and_is_everywhere() {
        let corpus = Corpus::built_in(1000);
        assert_eq!(corpus.find("/any").unwrap().body.len(), 1000);
    }
}
