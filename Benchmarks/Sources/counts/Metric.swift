// SPDX-License-Identifier: MIT

/// The cost of one request, in counts that barely depend on the machine's load.
typealias Counts = [Metric: Double]

/// What is counted.
enum Metric: String, CaseIterable {
    /// Instructions in user space.
    case instructions
    case allocations
    /// Voluntary context switches: a thread went to sleep and must be woken.
    case contextSwitches = "context switches"
    case systemCalls = "system calls"

    /// The fraction by which a count may exceed its baseline. Streams and uploads vary most, because the sizes of their
    /// reads do.
    func tolerance(of workload: Workload) -> Double {
        switch (workload, self) {
        case (.streamed, .instructions), (.streamed, .allocations), (.uploaded, .instructions): 0.4
        case (.streamed, _), (.uploaded, _): 2
        case (.stubbed, .instructions), (.stubbed, .allocations): 0.05
        case (.stubbedWithPlugins, .instructions), (.stubbedWithPlugins, .allocations): 0.05
        // How many calls the loop finds at once varies.
        case (_, .instructions), (_, .allocations): 0.1
        case (_, .contextSwitches), (_, .systemCalls): 0.6
        }
    }

    /// The difference that counts as noise when the count is near zero.
    var slack: Double {
        switch self {
        case .instructions: 100
        case .allocations, .contextSwitches, .systemCalls: 0.1
        }
    }
}
