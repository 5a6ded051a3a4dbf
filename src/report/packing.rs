//! Numbers as text of the page.
//!
//! Bytes of little-endian numbers are sorted by place (all first bytes, all second bytes, ...), as smooth data differ
//! little in the high ones, then deflated, then written in base64. The page undoes it column by column, when a column
//! is first looked at.

use super::recording::Column;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use std::io::Write;

/// Values that vary less than this part of the first one are stored as differences from it.
const SMALL_VARIATION: f64 = 1e-3;
/// Largest whole number up to which `f32` holds all.
const WHOLE_IN_F32: f64 = 16_777_216.0;
/// Of the deflater: higher ones take several times as long for a few per cent.
const LEVEL: u32 = 5;

/// Packed arrays of the page, each with its place as its name.
#[derive(Default)]
pub struct Chunks {
    /// Base64.
    pub texts: Vec<String>,
}

/// How to read the samples of a column.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Packed {
    /// The value of all samples, where it is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    constant: Option<f64>,
    /// Which chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk: Option<usize>,
    /// Bytes of a number: 4 or 8.
    width: usize,
    /// What to add to each number.
    base: f64,
}

impl Chunks {
    /// Packs numbers given as little-endian bytes of a width.
    fn push(&mut self, bytes: &[u8], width: usize) -> usize {
        let mut deflater = DeflateEncoder::new(Vec::new(), Compression::new(LEVEL));
        let sorted: Vec<u8> =
            (0..width).flat_map(|place| bytes.iter().skip(place).step_by(width).copied()).collect();
        deflater.write_all(&sorted).expect("memory takes all");
        self.texts.push(STANDARD.encode(deflater.finish().expect("memory takes all")));
        self.texts.len() - 1
    }

    /// Packs `f32`.
    pub fn push_f32(&mut self, values: impl Iterator<Item = f32>) -> usize {
        self.push(&values.flat_map(f32::to_le_bytes).collect::<Vec<u8>>(), 4)
    }

    /// Packs `u32`.
    pub fn push_u32(&mut self, values: impl Iterator<Item = u32>) -> usize {
        self.push(&values.flat_map(u32::to_le_bytes).collect::<Vec<u8>>(), 4)
    }

    /// Packs `f64`.
    pub fn push_f64(&mut self, values: impl Iterator<Item = f64>) -> usize {
        self.push(&values.flat_map(f64::to_le_bytes).collect::<Vec<u8>>(), 8)
    }

    /// Packs the samples of a column: to 7 digits, of the variation where that is small; whole numbers exactly.
    pub fn push_column(&mut self, column: &Column) -> Packed {
        let values = &column.values;
        let first = values.first().copied().unwrap_or(0.0);
        if first.is_finite() && column.is_constant() {
            return Packed { constant: Some(first), chunk: None, width: 0, base: 0.0 };
        }
        let (low, high) = column.range();
        if !column.is_real && low.abs().max(high.abs()) > WHOLE_IN_F32 {
            let chunk = Some(self.push_f64(values.iter().copied()));
            return Packed { constant: None, chunk, width: 8, base: 0.0 };
        }
        let base = if high - low < SMALL_VARIATION * first.abs() { first } else { 0.0 };
        let chunk = Some(self.push_f32(values.iter().map(|value| (value - base) as f32)));
        Packed { constant: None, chunk, width: 4, base }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::DeflateDecoder;
    use std::io::Read;

    fn unpacked(text: &str, width: usize) -> Vec<Vec<u8>> {
        let bytes = STANDARD.decode(text).unwrap();
        let mut sorted = Vec::new();
        DeflateDecoder::new(&bytes[..]).read_to_end(&mut sorted).unwrap();
        let count = sorted.len() / width;
        (0..count).map(|k| (0..width).map(|place| sorted[place * count + k]).collect()).collect()
    }

    fn column(values: &[f64], is_real: bool) -> Column {
        Column {
            name: String::new(),
            unit: String::new(),
            description: String::new(),
            reference: 0,
            place: 0,
            is_input: false,
            is_real,
            values: values.to_vec(),
        }
    }

    fn read_back(values: &[f64], is_real: bool) -> Vec<f64> {
        let mut chunks = Chunks::default();
        let packed = chunks.push_column(&column(values, is_real));
        match (packed.constant, packed.width) {
            (Some(value), _) => vec![value; values.len()],
            (None, 4) => unpacked(&chunks.texts[0], 4)
                .into_iter()
                .map(|bytes| packed.base + f64::from(f32::from_le_bytes(bytes.try_into().unwrap())))
                .collect(),
            _ => unpacked(&chunks.texts[0], 8)
                .into_iter()
                .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
                .collect(),
        }
    }

    #[test]
    fn seven_digits_are_kept() {
        let values: Vec<f64> = (0..1000).map(|k| 1e3 * (0.01 * f64::from(k)).sin()).collect();
        for (value, read) in values.iter().zip(read_back(&values, true)) {
            assert!((value - read).abs() <= 6e-8 * value.abs(), "{value} {read}");
        }
    }

    #[test]
    fn a_drift_far_below_the_value_is_kept() {
        let values: Vec<f64> = (0..1000).map(|k| 1.0 + 1e-12 * f64::from(k)).collect();
        for (value, read) in values.iter().zip(read_back(&values, true)) {
            assert!((value - read).abs() <= 3e-16, "{value} {read}");
        }
    }

    #[test]
    fn whole_numbers_are_exact() {
        for values in [vec![0.0, 1.0, 2.0], vec![2_147_483_647.0, -2_147_483_648.0], vec![7.0; 4]] {
            assert_eq!(read_back(&values, false), values);
        }
    }

    #[test]
    fn what_is_no_number_stays_so() {
        let read = read_back(&[f64::NAN, f64::INFINITY, 1.0], true);
        assert!(read[0].is_nan() && read[1] == f64::INFINITY && read[2] == 1.0);
        assert!(read_back(&[f64::INFINITY; 3], true).iter().all(|value| *value == f64::INFINITY));
    }
}
