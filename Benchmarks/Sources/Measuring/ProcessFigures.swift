// SPDX-License-Identifier: MIT
import Foundation

/// What the system knows of this process.
public enum ProcessFigures {
    /// Seconds of CPU, of all threads, in the program and in the system for it.
    public static var cpuSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Bytes in memory now.
    public static var residentBytes: Int { statusBytes("VmRSS:") }

    /// The most bytes that were in memory since ``resetPeak()``.
    public static var peakBytes: Int { statusBytes("VmHWM:") }

    /// Starts the peak anew (proc(5), `clear_refs`).
    public static func resetPeak() {
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    }

    /// The number of voluntary context switches of all threads (getrusage(2), `ru_nvcsw`).
    public static var contextSwitches: Int {
        var usage = rusage()
        #if canImport(Glibc)
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
        getrusage(RUSAGE_SELF, &usage)
        #endif
        return usage.ru_nvcsw
    }

    /// Open file descriptors and what they lead to.
    public static var openFiles: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    }

    /// The number of threads.
    public static var threadCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count ?? 0
    }

    private static func statusBytes(_ name: String) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return kilobytes << 10
    }
}
