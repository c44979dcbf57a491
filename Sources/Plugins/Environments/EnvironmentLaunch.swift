// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension EnvironmentStore {
    /// What the program was started with, which may name an environment: for UI tests, and for a scheme of one's own in Xcode.
    ///
    /// ```swift
    /// let app = XCUIApplication()
    /// app.launchArguments += ["-TargetKitEnvironment", "test"]
    /// app.launch()
    /// ```
    public struct Launch: Sendable, Hashable {
        /// The argument that a name follows, `-TargetKitEnvironment`. Of several the last counts.
        package static let argument = "-TargetKitEnvironment"
        /// The environment variable that is a name, `TARGETKIT_ENVIRONMENT`. Empty means not set.
        package static let variable = "TARGETKIT_ENVIRONMENT"

        /// The arguments of the program.
        let arguments: [String]
        /// Its environment variables.
        let variables: [String: String]

        /// Arguments and variables, none unless told.
        public init(arguments: [String] = [], variables: [String: String] = [:]) {
            self.arguments = arguments
            self.variables = variables
        }

        /// What this process was started with.
        public static var process: Self {
            let process = ProcessInfo.processInfo
            return Self(arguments: process.arguments, variables: process.environment)
        }

        /// Nothing: for a program whose starter may not choose.
        public static let ignored = Self()

        /// The name that is asked for, and by what: the argument goes before the variable. The name is `nil` when the argument
        /// has none after it; the whole is `nil` when nothing is asked for.
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
    var redactedDescription: String { "\(arguments.count) arguments, \(variables.count) variables" }
}

/// Why an ``EnvironmentStore`` has not the environment that was asked for.
public enum EnvironmentError: Error, Sendable, Hashable {
    /// Who asked.
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
    /// The launch argument stands last, with no name after it.
    case missingName(known: [ServerEnvironment.Name])
    /// Two environments have that name.
    case duplicateName(ServerEnvironment.Name)
}

extension EnvironmentError: DescribedError {
    /// What is wrong, who asked for it, and which names there are, in one line.
    public var description: String {
        switch self {
        case .unknownName(let name, let source, let known):
            "\(source.words) names the environment \(name.rawValue.debugDescription); there are \(Self.list(known))"
        case .missingName(let known):
            "\(Source.launchArgument.words) needs the name of an environment after it; there are \(Self.list(known))"
        case .duplicateName(let name):
            "two environments are called \(name.rawValue.debugDescription): give each a name of its own"
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
