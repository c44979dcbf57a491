// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation

/// The memory of this process, as Linux counts it (proc(5)).
public enum ProcessMemory {
    /// There is no such line in `/proc/self/status`.
    public struct Unknown: Error {}

    /// Whether the process uses as much memory as its program needs. The address sanitizer keeps about 256 MB of freed
    /// memory, and the thread sanitizer a multiple of the memory in use.
    public static let isReused = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

    /// The largest size that this process has had in memory, in bytes.
    public static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(separator: " ").compactMap({ Int($0) }).first
        else { throw Unknown() }
        return kilobytes << 10
    }
}
#endif
