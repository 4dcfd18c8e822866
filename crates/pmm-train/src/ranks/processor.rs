//! What computes: ranks on different processors may differ in the last bit.

/// The processor in words: its model, and which of the vectors it has that kernels choose by.
pub fn processor() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let model = model.trim_start_matches([' ', '\t', ':']);
    let model = if model.is_empty() { std::env::consts::ARCH } else { model };
    format!("{model} ({})", vectors())
}

#[cfg(target_arch = "x86_64")]
fn vectors() -> &'static str {
    use std::arch::is_x86_feature_detected as has;
    match () {
        () if has!("avx512f") && has!("avx512vl") => "AVX-512",
        () if has!("avx2") && has!("fma") => "AVX2",
        () if has!("avx") => "AVX",
        () => "SSE2",
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> &'static str {
    std::env::consts::ARCH
}
