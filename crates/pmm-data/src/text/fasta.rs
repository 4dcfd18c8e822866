//! FASTA: records of sequences, each with a name.

use std::fmt;
use std::io::{BufRead, BufReader, Read};

use super::error::TextDataError;
use super::file::TextFile;

/// The longest line that is read.
const LONGEST: u64 = 256 << 20;

/// A record: a header line `>name …` and the lines of its sequence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Record {
    /// The first word of the header.
    pub(super) name: String,
    /// Letters, raised; gaps (`-`, `.`) and a stop (`*`) at the end are left out.
    pub(super) sequence: Vec<u8>,
    /// The line of the header, from 1.
    pub(super) line: u64,
    /// Letters that were small.
    pub(super) small: u64,
    /// Gaps that were left out.
    pub(super) gaps: u64,
    /// Whether a stop at its end was left out.
    pub(super) stop: bool,
}

/// What sequences are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alphabet {
    /// Amino acids.
    Protein,
    /// Bases, with T.
    Dna,
    /// Bases, with U.
    Rna,
}

/// What a file of sequences holds, and what was changed in reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceSummary {
    /// Records with a sequence.
    pub records: u64,
    /// Letters in all.
    pub residues: u64,
    /// Of what.
    pub alphabet: Alphabet,
    /// Kinds of letters.
    pub kinds: usize,
    /// Small letters, which are raised.
    pub small: u64,
    /// Gaps, which are left out.
    pub gaps: u64,
    /// Stops at ends, which are left out.
    pub stops: u64,
}

impl fmt::Display for SequenceSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.alphabet {
            Alphabet::Protein => "amino acids",
            Alphabet::Dna => "bases of DNA",
            Alphabet::Rna => "bases of RNA",
        };
        write!(f, "{} sequences of {} {what}, {} kinds", self.records, self.residues, self.kinds)?;
        if self.small > 0 {
            write!(f, "; {} small letters raised", self.small)?;
        }
        if self.gaps > 0 {
            write!(f, "; {} gaps left out", self.gaps)?;
        }
        if self.stops > 0 {
            write!(f, "; {} stops at ends left out", self.stops)?;
        }
        Ok(())
    }
}

/// Hands out the records of a file that have a sequence.
pub(super) fn records<E: From<TextDataError>>(
    file: &TextFile,
    sink: &mut dyn FnMut(&Record) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = BufReader::new(file.reader(false)?);
    let mut bytes = Vec::new();
    let mut record: Option<Record> = None;
    for line in 1.. {
        bytes.clear();
        let read = reader.by_ref().take(LONGEST + 1).read_until(b'\n', &mut bytes);
        if read.map_err(|error| file.io(error))? == 0 {
            break;
        }
        if bytes.len() as u64 > LONGEST {
            Err(TextDataError::LongLine { path: file.name.clone(), line, most: LONGEST })?;
        }
        match bytes.trim_ascii() {
            [] | [b';', ..] => {}
            [b'>', header @ ..] => {
                finish(record.take(), sink)?;
                let name = header.trim_ascii().split(|byte| byte.is_ascii_whitespace()).next();
                let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
                record = Some(Record { name, line, ..Record::default() });
            }
            letters => match &mut record {
                Some(record) => record.add(letters, &file.name, line)?,
                None => Err(TextDataError::NoHeader { path: file.name.clone(), line })?,
            },
        }
    }
    finish(record, sink)
}

fn finish<E>(record: Option<Record>, sink: &mut dyn FnMut(&Record) -> Result<(), E>) -> Result<(), E> {
    let Some(mut record) = record else { return Ok(()) };
    record.stop = record.sequence.pop_if(|last| *last == b'*').is_some();
    if record.sequence.is_empty() { Ok(()) } else { sink(&record) }
}

impl Record {
    fn add(&mut self, letters: &[u8], path: &str, line: u64) -> Result<(), TextDataError> {
        for &byte in letters {
            match byte {
                b'-' | b'.' => self.gaps += 1,
                b' ' | b'\t' => {}
                b'*' => self.sequence.push(byte),
                _ if byte.is_ascii_alphabetic() => {
                    self.small += u64::from(byte.is_ascii_lowercase());
                    self.sequence.push(byte.to_ascii_uppercase());
                }
                _ => {
                    let found = char::from(byte).escape_default().to_string();
                    return Err(TextDataError::NoResidue { path: path.to_owned(), line, found });
                }
            }
        }
        Ok(())
    }
}

/// What the files hold.
pub(super) fn summary(files: &[TextFile]) -> Result<SequenceSummary, TextDataError> {
    let mut counts = [0_u64; 256];
    let (mut records_found, mut small, mut gaps, mut stops) = (0, 0, 0, 0);
    for file in files {
        records::<TextDataError>(file, &mut |record| {
            record.sequence.iter().for_each(|&letter| counts[usize::from(letter)] += 1);
            (records_found, small, gaps) = (records_found + 1, small + record.small, gaps + record.gaps);
            stops += u64::from(record.stop);
            Ok(())
        })?;
    }
    Ok(SequenceSummary {
        records: records_found,
        residues: counts.iter().sum(),
        alphabet: alphabet(&counts),
        kinds: counts.iter().filter(|&&count| count > 0).count(),
        small,
        gaps,
        stops,
    })
}

/// Bases, if nine in ten letters are A, C, G, T, U or N and all others stand for several bases; else amino acids.
fn alphabet(counts: &[u64; 256]) -> Alphabet {
    let sum = |letters: &[u8]| letters.iter().map(|&letter| counts[usize::from(letter)]).sum::<u64>();
    let (all, bases) = (counts.iter().sum::<u64>(), sum(b"ACGTUN"));
    if bases + sum(b"RYSWKMBDHV") < all || 10 * bases < 9 * all {
        Alphabet::Protein
    } else if sum(b"U") > sum(b"T") {
        Alphabet::Rna
    } else {
        Alphabet::Dna
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Record>, TextDataError> {
        let mut found = Vec::new();
        let file = TextFile::memory("a.fasta".into(), text.into());
        records::<TextDataError>(&file, &mut |record| {
            found.push(record.clone());
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn records_are_read() {
        let found =
            read("; old comment\n>sp|P1 first protein\r\nMKV-aa\r\nLL..W*\n\n>empty\n>2\nacd\n").unwrap();
        let names: Vec<_> = found.iter().map(|record| (&record.name[..], record.line)).collect();
        assert_eq!(names, [("sp|P1", 2), ("2", 7)]);
        assert_eq!(found[0].sequence, b"MKVAALLW");
        assert_eq!((found[0].small, found[0].gaps, found[1].small), (2, 3, 3));
    }

    #[test]
    fn what_is_no_sequence_is_named() {
        assert_eq!(read("MKV\n").unwrap_err().to_string(), "a.fasta, line 1: a sequence without a >header");
        let error = read(">a\nMK1V\n").unwrap_err();
        assert_eq!(error.to_string(), "a.fasta, line 2: \"1\" stands for no residue");
    }

    #[test]
    fn alphabets_are_recognised() {
        let of = |text: &str| summary(&[TextFile::memory("a".into(), text.into())]).unwrap();
        assert_eq!(of(">a\nMKVLLWAALLVTFLAGCQA").alphabet, Alphabet::Protein);
        assert_eq!(of(">a\nACGTNACGTTTRACGT").alphabet, Alphabet::Dna);
        assert_eq!(of(">a\nacguuuacg").alphabet, Alphabet::Rna);
        // Amino acids that have the letters of bases only are rare, and E is no base.
        assert_eq!(of(">a\nACGTACGTACGTACGTACGE").alphabet, Alphabet::Protein);
        assert_eq!(
            of(">a\nAC-gt*").to_string(),
            "1 sequences of 4 bases of DNA, 4 kinds; 2 small letters raised; 1 gaps left out; 1 stops at ends left out"
        );
    }
}
