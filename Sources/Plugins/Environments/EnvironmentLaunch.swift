// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension EnvironmentStore {
    /// The arguments and variables of the program, which may name an environment: for UI tests, and for schemes in Xcode.
    ///
    /// ```swift
    /// let app = XCUIApplication()
    /// app.launchArguments += ["-TargetKitEnvironment", "test"]
    /// app.launch()
    /// ```
    public struct Launch: Sendable, Hashable {
        /// The argument before the name, `-TargetKitEnvironment`. The last one counts.
        package static let argument = "-TargetKitEnvironment"
        /// The environment variable with the name, `TARGETKIT_ENVIRONMENT`. An empty one does not count.
        package static let variable = "TARGETKIT_ENVIRONMENT"

        /// The program's arguments.
        let arguments: [String]
        /// The program's environment variables.
        let variables: [String: String]

        /// A launch with these arguments and variables; default: none.
        public init(arguments: [String] = [], variables: [String: String] = [:]) {
            self.arguments = arguments
            self.variables = variables
        }

        /// The launch of this process.
        public static var process: Self {
            let process = ProcessInfo.processInfo
            return Self(arguments: process.arguments, variables: process.environment)
        }

        /// A launch that selects no environment.
        public static let ignored = Self()

        /// The name and its source; the argument overrides the variable. The name is `nil` when it is missing after the argument; the
        /// result is `nil` when the launch names no environment.
        var wish: (name: ServerEnvironment.Name?, source: EnvironmentError.Source)? {
            if let place = arguments.lastIndex(of: Self.argument) {
                let name = place + 1 < arguments.count ? arguments[place + 1] : nil
                return (name.map { ServerEnvironment.Name(rawValue: $0) }, .launchArgument)
            }
            guard let name = variables[Self.variable], !name.isEmpty else { return nil }
            return (ServerEnvironment.Name(rawValue: name), .environmentVariable)
        }
    }
}

extension EnvironmentStore.Launch: RedactedDescription {
    /// The number of arguments and variables; their values can be secrets.
    package var redactedDescription: String { "\(arguments.count) arguments, \(variables.count) variables" }
}

/// Why an ``EnvironmentStore`` cannot use an environment.
public enum EnvironmentError: Error, Sendable, Hashable {
    /// Where the name comes from.
    public enum Source: Sendable, Hashable {
        /// The launch argument `-TargetKitEnvironment`.
        case launchArgument
        /// The environment variable `TARGETKIT_ENVIRONMENT`.
        case environmentVariable
        /// ``EnvironmentStore/select(_:)``
        case selection
    }

    /// No environment has that name.
    case unknownName(ServerEnvironment.Name, from: Source, known: [ServerEnvironment.Name])
    /// The launch argument has no name after it.
    case missingName(known: [ServerEnvironment.Name])
    /// Two environments have that name.
    case duplicateName(ServerEnvironment.Name)
}

extension EnvironmentError: DescribedError {
    /// The problem, its source and the known names, in one line.
    public var description: String {
        switch self {
        case .unknownName(let name, let source, let known):
            "\(source.words) names the unknown environment \(name.rawValue.debugDescription); known environments: \(Self.list(known))"
        case .missingName(let known):
            "\(Source.launchArgument.words) is not followed by the name of an environment; known environments: \(Self.list(known))"
        case .duplicateName(let name):
            "two environments have the name \(name.rawValue.debugDescription)"
        }
    }

    private static func list(_ names: [ServerEnvironment.Name]) -> String {
        names.map(\.rawValue).joined(separator: ", ")
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
