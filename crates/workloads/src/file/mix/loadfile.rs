//! dbench loadfiles (for its file backend): lines of operation, arguments and expected status.

use super::value::Number;
use std::collections::HashMap;

/// Names of the operations, as loadfiles have them, in the order of [`Operation`].
pub const OPERATIONS: [&str; 17] = [
    "NTCreateX",
    "Close",
    "ReadX",
    "WriteX",
    "Flush",
    "LockX",
    "UnlockX",
    "Unlink",
    "Rename",
    "Mkdir",
    "Rmdir",
    "Deltree",
    "FIND_FIRST",
    "QUERY_PATH_INFORMATION",
    "QUERY_FILE_INFORMATION",
    "QUERY_FS_INFORMATION",
    "SET_FILE_INFORMATION",
];

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    Create,
    Close,
    Read,
    Write,
    Flush,
    Lock,
    Unlock,
    Unlink,
    Rename,
    Mkdir,
    Rmdir,
    Deltree,
    Find,
    QueryPath,
    QueryFile,
    QueryFs,
    SetFile,
}

const ALL: [Operation; 17] = [
    Operation::Create,
    Operation::Close,
    Operation::Read,
    Operation::Write,
    Operation::Flush,
    Operation::Lock,
    Operation::Unlock,
    Operation::Unlink,
    Operation::Rename,
    Operation::Mkdir,
    Operation::Rmdir,
    Operation::Deltree,
    Operation::Find,
    Operation::QueryPath,
    Operation::QueryFile,
    Operation::QueryFs,
    Operation::SetFile,
];

/// How an operation is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Success,
    Failure,
    Anything,
}

/// Index into [`Program::names`].
pub type NameIndex = u32;

/// How a name is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Create {
    pub folder: bool,
    pub make: bool,
    pub truncate: bool,
    pub exclusive: bool,
}

/// One operation of a loadfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub operation: Operation,
    pub expect: Expect,
    pub create: Create,
    pub handle: u16,
    pub name: NameIndex,
    /// Second name of a rename; the folder that is searched for the others.
    pub other: NameIndex,
    pub size: u32,
    pub offset: Number,
}

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// Do this, so many times.
    Do(Entry, u32),
    /// Not before so many µs after the start of the pass.
    At(u64),
    /// Go on from line `.1` so many times; `LOOP`.
    Loop(u32),
    /// End of a loop that begins at this line.
    EndLoop(u32),
    Sleep(u64),
    /// Give `$index` a new text by this pattern.
    Random(u8, u32),
    /// Write this text from now on.
    Pattern(u32),
    SetPoint(u32),
    WaitPoint {
        child: Number,
        point: u32,
    },
}

/// A loadfile, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// In their order.
    pub lines: Vec<Line>,
    /// Names relative to the trial's folder, `client1` not yet replaced.
    pub names: Vec<String>,
    /// Patterns of [`Line::Random`] and [`Line::Pattern`].
    pub texts: Vec<String>,
    /// Most files open at once.
    pub handles: u16,
    /// Largest transfer, bytes.
    pub transfer_max: u32,
    /// Handles that are still open at its end.
    pub open_at_end: Vec<u16>,
}

/// What is wrong with a loadfile and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct LoadError {
    /// From 1.
    pub line: usize,
    /// In words.
    pub reason: String,
}

const LINES_MAX: usize = 20_000_000;
const NAMES_MAX: usize = 1_000_000;
const NAME_BYTES_MAX: usize = 1_024;
const HANDLES_MAX: u16 = 1_000;
const TRANSFER_MAX: u64 = 64 << 20;
const OFFSET_MAX: u64 = 1 << 50;
const DEPTH_MAX: usize = 16;
const REPEAT_MAX: u64 = 1_000_000_000;

/// Cuts a line into words; a word in quotes may hold spaces.
fn words(line: &str) -> Result<Vec<&str>, String> {
    let mut words = Vec::with_capacity(8);
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, after) = if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').ok_or("a quote is not closed")?;
            (&quoted[..end], &quoted[end + 1..])
        } else {
            rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()))
        };
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

fn expectation(status: &str) -> Result<Expect, String> {
    match status {
        "*" => Ok(Expect::Anything),
        "NT_STATUS_OK" | "SUCCESS" | "0x00000000" | "0x0" => Ok(Expect::Success),
        "ERROR" => Ok(Expect::Failure),
        _ if status.starts_with("NT_STATUS_") || status.starts_with("0x") => Ok(Expect::Failure),
        _ => Err(format!("{status:?} is no status, such as NT_STATUS_OK")),
    }
}

#[derive(Default)]
struct Reader<'a> {
    program: Program,
    known: HashMap<&'a str, NameIndex>,
    /// File number of the loadfile to handle.
    open: HashMap<u64, u16>,
    free: Vec<u16>,
    loops: Vec<u32>,
    repeat: u32,
}

/// Reads a loadfile. Time and memory grow with its size alone.
pub fn parse(bytes: &[u8]) -> Result<Program, LoadError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        LoadError { line, reason: "is not text in UTF-8".to_owned() }
    })?;
    let mut reader = Reader { repeat: 1, ..Reader::default() };
    let mut number = 0;
    for line in text.lines() {
        number += 1;
        reader.line(line).map_err(|reason| LoadError { line: number, reason })?;
    }
    reader.finish().map_err(|reason| LoadError { line: number, reason })
}

impl<'a> Reader<'a> {
    fn finish(mut self) -> Result<Program, String> {
        if !self.loops.is_empty() {
            return Err("a LOOP has no ENDLOOP".to_owned());
        }
        if !self.program.lines.iter().any(|line| matches!(line, Line::Do(..))) {
            return Err("the loadfile has no operation".to_owned());
        }
        self.program.open_at_end = self.open.into_values().collect();
        self.program.open_at_end.sort_unstable();
        Ok(self.program)
    }

    fn push(&mut self, line: Line) -> Result<(), String> {
        if self.program.lines.len() >= LINES_MAX {
            return Err(format!("more than {LINES_MAX} lines: use a smaller loadfile"));
        }
        self.program.lines.push(line);
        Ok(())
    }

    fn line(&mut self, line: &'a str) -> Result<(), String> {
        let mut words = words(line)?;
        let Some(first) = words.first().copied() else { return Ok(()) };
        if first.starts_with('#') {
            return Ok(());
        }
        if let Ok(at_s) = first.parse::<f64>() {
            if !(0.0..=1e7).contains(&at_s) {
                return Err(format!("{first:?} is no time in seconds"));
            }
            self.push(Line::At((at_s * 1e6) as u64))?;
            words.remove(0);
        }
        let Some((&name, arguments)) = words.split_first() else { return Ok(()) };
        if self.control(name, arguments)? {
            return Ok(());
        }
        let operation = OPERATIONS.iter().position(|&known| known.eq_ignore_ascii_case(name));
        let Some(operation) = operation.map(|index| ALL[index]) else {
            return Err(format!("{name:?} is no operation that a file system knows"));
        };
        let entry = self.entry(operation, arguments)?;
        let repeat = std::mem::replace(&mut self.repeat, 1);
        self.push(Line::Do(entry, repeat))
    }

    /// Lines that are no operation; `false` when it is one.
    fn control(&mut self, name: &str, arguments: &[&str]) -> Result<bool, String> {
        let number = |at: usize, most: u64| {
            let text = arguments.get(at).copied().unwrap_or_default();
            match text.parse::<u64>() {
                Ok(number) if number <= most => Ok(number),
                _ => Err(format!("{name} wants a number up to {most}, not {text:?}")),
            }
        };
        match name {
            "LOOP" => {
                if self.loops.len() >= DEPTH_MAX {
                    return Err(format!("loops may be {DEPTH_MAX} deep"));
                }
                let times = number(0, REPEAT_MAX)? as u32;
                self.loops.push(self.program.lines.len() as u32);
                self.push(Line::Loop(times))?;
            }
            "ENDLOOP" => {
                let start = self.loops.pop().ok_or("ENDLOOP without LOOP")?;
                let inside = &self.program.lines[start as usize..];
                if !inside.iter().any(|line| matches!(line, Line::Do(..))) {
                    return Err("nothing is done between LOOP and ENDLOOP: take the loop out".to_owned());
                }
                self.push(Line::EndLoop(start))?;
            }
            "REPEAT" => self.repeat = number(0, REPEAT_MAX)?.max(1) as u32,
            "SLEEP" => self.push(Line::Sleep(number(0, 1_000_000_000_000)?))?,
            "RANDOMSTRING" => {
                let index = number(0, 99)? as u8;
                let text = self.text(arguments.get(1).copied().unwrap_or_default())?;
                self.push(Line::Random(index, text))?;
            }
            "WRITEPATTERN" => {
                let text = self.text(arguments.first().copied().unwrap_or_default())?;
                self.push(Line::Pattern(text))?;
            }
            "SETSP" => self.push(Line::SetPoint(number(0, u64::from(u32::MAX))? as u32))?,
            "WAITSP" => {
                let text = arguments.first().copied().unwrap_or_default();
                let child = Number::parse(text).ok_or_else(|| format!("{text:?} is no client"))?;
                self.push(Line::WaitPoint { child, point: number(1, u64::from(u32::MAX))? as u32 })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn text(&mut self, text: &str) -> Result<u32, String> {
        if text.is_empty() || text.len() > NAME_BYTES_MAX || self.program.texts.len() >= NAMES_MAX {
            return Err(format!("a pattern has 1 to {NAME_BYTES_MAX} bytes"));
        }
        self.program.texts.push(text.to_owned());
        Ok(self.program.texts.len() as u32 - 1)
    }

    fn name(&mut self, text: &'a str) -> Result<NameIndex, String> {
        if let Some(&known) = self.known.get(text) {
            return Ok(known);
        }
        let index = self.add_name(&text.replace('\\', "/"))?;
        self.known.insert(text, index);
        Ok(index)
    }

    fn add_name(&mut self, text: &str) -> Result<NameIndex, String> {
        let path = text.trim_start_matches('/');
        let path = if path.is_empty() { "." } else { path };
        if path.len() > NAME_BYTES_MAX || path.contains('\0') || path.split('/').any(|part| part == "..") {
            return Err(format!("{:?} is no name that can be used", text.chars().take(80).collect::<String>()));
        }
        if self.program.names.len() >= NAMES_MAX {
            return Err(format!("more than {NAMES_MAX} names: use a smaller loadfile"));
        }
        self.program.names.push(path.to_owned());
        Ok(self.program.names.len() as NameIndex - 1)
    }

    /// The folder in which a name lies.
    fn folder_of(&mut self, name: NameIndex) -> Result<NameIndex, String> {
        let path = self.program.names[name as usize].clone();
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        match self.program.names.iter().rev().take(64).position(|known| known == folder) {
            Some(back) => Ok((self.program.names.len() - 1 - back) as NameIndex),
            None => self.add_name(folder),
        }
    }

    /// Handle of the file number that is opened.
    fn opened(&mut self, number: u64) -> Result<u16, String> {
        if let Some(&handle) = self.open.get(&number) {
            return Ok(handle);
        }
        let handle = self.free.pop().unwrap_or(self.program.handles);
        if handle >= HANDLES_MAX {
            return Err(format!("more than {HANDLES_MAX} files are open at once"));
        }
        self.program.handles = self.program.handles.max(handle + 1);
        self.open.insert(number, handle);
        Ok(handle)
    }

    fn handle(&self, text: &str) -> Result<u16, String> {
        let number = fixed(text)?;
        // A file that was never opened: the call fails, as it does for dbench.
        Ok(self.open.get(&number).copied().unwrap_or(u16::MAX))
    }

    fn entry(&mut self, operation: Operation, arguments: &[&'a str]) -> Result<Entry, String> {
        let wanted = match operation {
            Operation::QueryFs
            | Operation::Mkdir
            | Operation::Rmdir
            | Operation::Deltree
            | Operation::Close
            | Operation::Flush => 2,
            Operation::Unlink
            | Operation::QueryPath
            | Operation::QueryFile
            | Operation::SetFile
            | Operation::Rename => 3,
            Operation::Lock | Operation::Unlock => 4,
            Operation::Create | Operation::Read | Operation::Write | Operation::Find => 5,
        };
        let name = OPERATIONS[operation as usize];
        let (Some(&status), given) = (arguments.last(), arguments.len()) else {
            return Err(format!("{name} wants {wanted} arguments, here is none"));
        };
        // The amount that a search looked through may be left out; removing takes its attributes or not.
        let enough = given == wanted
            || (operation == Operation::Unlink && given == 2)
            || (operation == Operation::Flush && given == 2);
        if !enough {
            return Err(format!("{name} wants {wanted} arguments, here are {given}"));
        }
        let mut entry = Entry {
            operation,
            expect: expectation(status)?,
            create: Create::default(),
            handle: u16::MAX,
            name: 0,
            other: 0,
            size: 0,
            offset: Number::Fixed(0),
        };
        match operation {
            Operation::Create => self.create(&mut entry, arguments)?,
            Operation::Close => {
                entry.handle = self.handle(arguments[0])?;
                if let Some(handle) = self.open.remove(&fixed(arguments[0])?) {
                    self.free.push(handle);
                }
            }
            Operation::Read | Operation::Write => {
                entry.handle = self.handle(arguments[0])?;
                entry.offset = offset(arguments[1])?;
                let size = fixed(arguments[2])?;
                if size > TRANSFER_MAX {
                    return Err(format!("a transfer moves 64 MiB at most, not {size} bytes"));
                }
                entry.size = size as u32;
                self.program.transfer_max = self.program.transfer_max.max(entry.size);
            }
            Operation::Flush | Operation::Lock | Operation::Unlock | Operation::QueryFile | Operation::SetFile => {
                entry.handle = self.handle(arguments[0])?;
            }
            Operation::Rename => {
                entry.name = self.name(arguments[0])?;
                entry.other = self.name(arguments[1])?;
            }
            Operation::Unlink
            | Operation::Mkdir
            | Operation::Rmdir
            | Operation::Deltree
            | Operation::Find
            | Operation::QueryPath => {
                entry.name = self.name(arguments[0])?;
                entry.other = self.folder_of(entry.name)?;
            }
            Operation::QueryFs => {}
        }
        Ok(entry)
    }

    fn create(&mut self, entry: &mut Entry, arguments: &[&'a str]) -> Result<(), String> {
        let (options, disposition) = (fixed(arguments[1])?, fixed(arguments[2])?);
        entry.name = self.name(arguments[0])?;
        entry.other = self.folder_of(entry.name)?;
        // Dispositions: 0 replace, 1 open, 2 make, 3 open or make, 4 overwrite, 5 overwrite or make.
        entry.create = Create {
            folder: options & 1 != 0,
            make: matches!(disposition, 0 | 2 | 3 | 5),
            truncate: matches!(disposition, 0 | 4 | 5),
            exclusive: false,
        };
        if disposition > 5 {
            return Err(format!("{disposition} is no disposition: 0 to 5"));
        }
        let number = fixed(arguments[3])?;
        entry.handle = if entry.expect == Expect::Failure { u16::MAX } else { self.opened(number)? };
        Ok(())
    }
}

fn fixed(text: &str) -> Result<u64, String> {
    match Number::parse(text) {
        Some(Number::Fixed(number)) => Ok(number),
        _ => Err(format!("{text:?} is no number")),
    }
}

fn offset(text: &str) -> Result<Number, String> {
    match Number::parse(text) {
        Some(Number::Fixed(number)) if number > OFFSET_MAX => Err(format!("an offset ends at {OFFSET_MAX}")),
        Some(number) => Ok(number),
        None => Err(format!("{text:?} is no offset")),
    }
}
