// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Why an ``EnvironmentStore`` has not the environment that was asked for.
public enum EnvironmentError: Error, Sendable, Hashable {
    /// Who asked.
    public enum Asker: Sendable, Hashable {
        /// The launch argument ``EnvironmentStore/Launch/argument``.
        case launchArgument
        /// The environment variable ``EnvironmentStore/Launch/variable``.
        case environmentVariable
        /// ``EnvironmentStore/select(_:)``
        case selection
    }

    /// No environment has that name.
    case unknownName(ServerEnvironment.Name, from: Asker, known: [ServerEnvironment.Name])
    /// The launch argument stands last, with no name after it.
    case missingName(known: [ServerEnvironment.Name])
    /// Two environments have that name.
    case duplicateName(ServerEnvironment.Name)
}

extension EnvironmentError: LocalizedError, DeveloperError, CustomStringConvertible {
    /// What is wrong, who asked for it, and which names there are, in one line.
    public var description: String {
        switch self {
        case .unknownName(let name, let asker, let known):
            "\(asker.words) names the environment \(name.rawValue.debugDescription); there are \(Self.list(known))"
        case .missingName(let known):
            "\(Asker.launchArgument.words) needs the name of an environment after it; there are \(Self.list(known))"
        case .duplicateName(let name):
            "two environments are called \(name.rawValue.debugDescription): give each a name of its own"
        }
    }

    /// The same line, which is what a `TargetKitError` shows of the error underneath it.
    public var errorDescription: String? { description }

    private static func list(_ names: [ServerEnvironment.Name]) -> String {
        names.map(\.rawValue).joined(separator: ", ")
    }
}

extension EnvironmentError.Asker {
    fileprivate var words: String {
        switch self {
        case .launchArgument: "the launch argument \(EnvironmentStore.Launch.argument)"
        case .environmentVariable: "the environment variable \(EnvironmentStore.Launch.variable)"
        case .selection: "the app"
        }
    }
}
