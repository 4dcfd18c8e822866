//! Every way in which an operation on vectors may run, for tests.

/// What an operation writes without vectors, with those of AVX2 where the processor has them, and with the best that it has.
macro_rules! every_way {
    ($n:expr, |$out:ident| $operation:expr) => {{
        let run = |way: &dyn Fn(&mut [f32])| {
            let mut out = vec![0.0; $n];
            way(&mut out);
            out
        };
        let mut found = vec![
            run(&|$out| pulp::WithSimd::with_simd($operation, pulp::Scalar::new())),
            run(&|$out| pulp::Arch::new().dispatch($operation)),
        ];
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            found.push(run(&|$out| pulp::Simd::vectorize(simd, $operation)));
        }
        found
    }};
}

pub(super) use every_way;
