// SPDX-License-Identifier: MIT
import TargetKit

extension EnvironmentStore {
    /// The program's arguments and environment variables, which can select an environment.
    package struct Launch: Sendable, Hashable {
        /// The launch argument before the name, `-TargetKitEnvironment`. The last one counts.
        package static let argument = "-TargetKitEnvironment"
        /// The environment variable with the name, `TARGETKIT_ENVIRONMENT`. An empty value is ignored.
        package static let variable = "TARGETKIT_ENVIRONMENT"

        /// The program's arguments.
        let arguments: [String]
        /// The program's environment variables.
        let variables: [String: String]

        /// Creates a launch with these arguments and variables; default: none.
        package init(arguments: [String] = [], variables: [String: String] = [:]) {
            self.arguments = arguments
            self.variables = variables
        }

        /// The launch of this process.
        package static var process: Self {
            let process = ProcessInfo.processInfo
            return Self(arguments: process.arguments, variables: process.environment)
        }

        /// A launch that selects no environment.
        package static let ignored = Self()

        /// The name and its source. The argument overrides the variable. The name is `nil` if it is missing after the
        /// argument; the result is `nil` if the launch doesn't select an environment.
        var selection: (name: String?, source: EnvironmentError.Source)? {
            if let place = arguments.lastIndex(of: Self.argument) {
                let name = place + 1 < arguments.count ? arguments[place + 1] : nil
                return (name, .launchArgument)
            }
            guard let name = variables[Self.variable], !name.isEmpty else { return nil }
            return (name, .environmentVariable)
        }
    }
}

extension EnvironmentStore.Launch: RedactedDescription {
    /// The number of arguments and variables, because their values can be secrets.
    package var redactedDescription: String { "\(arguments.count) arguments, \(variables.count) variables" }
}

/// The reason why an ``EnvironmentStore`` can't use an environment.
package enum EnvironmentError: Error, Sendable, Hashable {
    /// The source of the name.
    package enum Source: Sendable, Hashable {
        /// The launch argument `-TargetKitEnvironment`.
        case launchArgument
        /// The environment variable `TARGETKIT_ENVIRONMENT`.
        case environmentVariable
        /// ``EnvironmentStore/select(_:)``
        case selection
    }

    /// No environment has this name.
    case unknownName(String, from: Source, known: [String])
    /// The launch argument has no name after it.
    case missingName(known: [String])
    /// Two environments have this name.
    case duplicateName(String)
}

extension EnvironmentError: DescribedError {
    /// The problem, its source and the known names, in one line.
    package var redactedDescription: String {
        switch self {
        case .unknownName(let name, let source, let known):
            "\(source.words) specifies the unknown environment \(name.debugDescription); known environments: \(Self.list(known))"
        case .missingName(let known):
            "\(Source.launchArgument.words) isn't followed by the name of an environment; known environments: \(Self.list(known))"
        case .duplicateName(let name):
            "two environments have the name \(name.debugDescription)"
        }
    }

    private static func list(_ names: [String]) -> String {
        names.joined(separator: ", ")
    }
}

extension EnvironmentError.Source {
    fileprivate var words: String {
        switch self {
        case .launchArgument: "the launch argument \(EnvironmentStore.Launch.argument)"
        case .environmentVariable: "the environment variable \(EnvironmentStore.Launch.variable)"
        case .selection: "the app"
        }
    }
}
