// SPDX-License-Identifier: MIT

/// What one request takes, in numbers that say the same on a machine whose cores are busy.
struct Counts {
    /// One of the numbers.
    enum Figure: String, CaseIterable {
        /// Instructions of the program, without the system's.
        case instructions
        case allocations
        /// Threads that went to sleep: each has to be woken.
        case contextSwitches = "context switches"
        case systemCalls = "system calls"

        /// By how much a count may exceed the one that is kept, as a fraction. Bytes that follow each other arrive in larger
        /// or smaller pieces, and on a busy machine more threads sleep before there is something to do.
        func tolerance(of work: Work) -> Double {
            switch (work, self) {
            case (.streamed, .instructions), (.streamed, .allocations), (.uploaded, .instructions): 0.4
            case (.streamed, _), (.uploaded, _): 2
            case (.stubbed, .instructions), (.stubbed, .allocations): 0.05
            case (.stubbedWithPlugins, .instructions), (.stubbedWithPlugins, .allocations): 0.05
            // How many calls the loop finds at once varies.
            case (_, .instructions), (_, .allocations): 0.1
            case (_, .contextSwitches), (_, .systemCalls): 0.6
            }
        }

        /// What is within the noise of a count that is next to nothing.
        var slack: Double {
            switch self {
            case .instructions: 100
            case .allocations, .contextSwitches, .systemCalls: 0.1
            }
        }
    }

    var values: [Figure: Double] = [:]

    subscript(figure: Figure) -> Double? {
        get { values[figure] }
        set { values[figure] = newValue }
    }
}
