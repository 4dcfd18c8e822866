//! Products of matrices by the crate gemm: `products-of-gemm THREADS` answers lines `WAY KIND ROWS INPUTS OUTPUTS TIMES` on a pipe with the
//! seconds of each of so many products.
//!
//! The kinds are those of a layer: `forward` is x W, `back` is d Wᵀ and `weights` is xᵀ d. The way `whole` is one call of the crate with all threads; a
//! number is that of `pmm-net/src/ops/mlp.rs`: rows in chunks of so many (there 64), one thread each, and for `weights` spans of 128 inputs, to
//! which the chunks are added one after the other. As there, W is transposed before a `back`, which is not timed.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use gemm::Parallelism;
use rayon::prelude::*;

const SPAN: usize = 128;

/// A matrix: values, and the distances between rows and between columns.
#[derive(Clone, Copy)]
struct Matrix<'a>(&'a [f32], isize, isize);

impl<'a> Matrix<'a> {
    fn new(values: &'a [f32], columns: usize) -> Self {
        Self(values, columns as isize, 1)
    }
    fn transposed(self) -> Self {
        Self(self.0, self.2, self.1)
    }
}

/// Rows, what is summed over, and columns.
type Sizes = (usize, usize, usize);

fn product(out: &mut [f32], add: bool, a: Matrix<'_>, b: Matrix<'_>, (m, k, n): Sizes, threads: Parallelism) {
    let last = |of: Matrix<'_>, rows: usize, columns: usize| {
        (rows - 1) * of.1 as usize + (columns - 1) * of.2 as usize
    };
    assert!(
        out.len() == m * n && last(a, m, k) < a.0.len() && last(b, k, n) < b.0.len(),
        "sizes of a product"
    );
    // SAFETY: the last element of each matrix is within its slice.
    unsafe {
        let (out, a_values, b_values) = (out.as_mut_ptr(), a.0.as_ptr(), b.0.as_ptr());
        let n_stride = n as isize;
        gemm::gemm(
            m, n, k, out, 1, n_stride, add, a_values, a.2, a.1, b_values, b.2, b.1, 1.0, 1.0, false, false,
            false, threads,
        );
    }
}

struct Layer {
    rows: usize,
    inputs: usize,
    outputs: usize,
    x: Vec<f32>,
    w: Vec<f32>,
    w_turned: Vec<f32>,
    d: Vec<f32>,
}

impl Layer {
    fn new(rows: usize, inputs: usize, outputs: usize) -> Self {
        let values = |n: usize| (0..n).map(|i| (i * 7919 % 1009) as f32 / 1009.0 - 0.5).collect::<Vec<_>>();
        let w = values(inputs * outputs);
        let w_turned = (0..w.len()).map(|i| w[i % inputs * outputs + i / inputs]).collect();
        Self { rows, inputs, outputs, x: values(rows * inputs), w, w_turned, d: values(rows * outputs) }
    }

    fn whole(&self, kind: &str, out: &mut [f32]) {
        let (x, w, d) = (
            Matrix::new(&self.x, self.inputs),
            Matrix::new(&self.w, self.outputs),
            Matrix::new(&self.d, self.outputs),
        );
        let all = Parallelism::Rayon(0);
        match kind {
            "forward" => product(out, false, x, w, (self.rows, self.inputs, self.outputs), all),
            "back" => product(out, false, d, w.transposed(), (self.rows, self.outputs, self.inputs), all),
            _ => product(out, false, x.transposed(), d, (self.inputs, self.rows, self.outputs), all),
        }
    }

    fn kernel(&self, kind: &str, chunk: usize, out: &mut [f32]) {
        let (inputs, outputs) = (self.inputs, self.outputs);
        let by_rows = |out: &mut [f32], x: &[f32], w: &[f32], inputs: usize, outputs: usize| {
            out.par_chunks_mut(chunk * outputs).zip(x.par_chunks(chunk * inputs)).for_each(|(out, x)| {
                let sizes = (x.len() / inputs, inputs, outputs);
                product(
                    out,
                    false,
                    Matrix::new(x, inputs),
                    Matrix::new(w, outputs),
                    sizes,
                    Parallelism::None,
                );
            });
        };
        match kind {
            "forward" => by_rows(out, &self.x, &self.w, inputs, outputs),
            "back" => by_rows(out, &self.d, &self.w_turned, outputs, inputs),
            _ => {
                let spans = out.par_chunks_mut(SPAN * outputs).enumerate();
                spans.for_each(|(span, out)| self.add_chunks(chunk, span * SPAN, out));
            }
        }
    }

    /// The gradient of the weights of some inputs.
    fn add_chunks(&self, rows: usize, first: usize, out: &mut [f32]) {
        let span = out.len() / self.outputs;
        for (chunk, d) in self.d.chunks(rows * self.outputs).enumerate() {
            let x = Matrix(&self.x[chunk * rows * self.inputs + first..], 1, self.inputs as isize);
            let sizes = (span, d.len() / self.outputs, self.outputs);
            product(out, chunk > 0, x, Matrix::new(d, self.outputs), sizes, Parallelism::None);
        }
    }
}

/// The answer to a line.
fn seconds(line: &str) -> Option<f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [way, kind, ref sizes @ ..] = words[..] else { return None };
    let sizes: Vec<usize> = sizes.iter().map_while(|size| size.parse().ok()).collect();
    let [rows, inputs, outputs, times] = sizes[..] else { return None };
    let layer = Layer::new(rows, inputs, outputs);
    let mut out = match kind {
        "forward" => vec![0.0; rows * outputs],
        "back" => vec![0.0; rows * inputs],
        _ => vec![0.0; inputs * outputs],
    };
    let chunk = way.parse::<usize>().ok();
    let mut run = || match chunk {
        Some(chunk) => layer.kernel(kind, chunk, &mut out),
        None => layer.whole(kind, &mut out),
    };
    run();
    let begin = Instant::now();
    (0..times).for_each(|_| run());
    Some(begin.elapsed().as_secs_f64() / times as f64)
}

fn main() -> Result<(), Box<dyn Error>> {
    let threads = std::env::args().nth(1).ok_or("usage: products-of-gemm THREADS")?;
    rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build_global()?;
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        println!("{}", seconds(&line?).ok_or("not WAY KIND ROWS INPUTS OUTPUTS TIMES")?);
        std::io::stdout().flush()?;
    }
    Ok(())
}
