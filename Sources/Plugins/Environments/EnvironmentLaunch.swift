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
        public static let argument = "-TargetKitEnvironment"
        /// The environment variable that is a name, `TARGETKIT_ENVIRONMENT`. Empty means not set.
        public static let variable = "TARGETKIT_ENVIRONMENT"

        /// The arguments of the program.
        public var arguments: [String]
        /// Its environment variables.
        public var variables: [String: String]

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
        var wish: (name: ServerEnvironment.Name?, asker: EnvironmentError.Asker)? {
            if let place = arguments.lastIndex(of: Self.argument) {
                let name = place + 1 < arguments.count ? arguments[place + 1] : nil
                return (name.map { ServerEnvironment.Name(rawValue: $0) }, .launchArgument)
            }
            guard let name = variables[Self.variable], !name.isEmpty else { return nil }
            return (ServerEnvironment.Name(rawValue: name), .environmentVariable)
        }
    }
}

extension EnvironmentStore.Launch: CustomStringConvertible, CustomReflectable {
    /// The number of arguments and variables; their values can be secrets.
    public var description: String { "\(arguments.count) arguments, \(variables.count) variables" }

    /// Reflects only the description, so `dump` omits the arguments and variables.
    public var customMirror: Mirror { Mirror(describing: self) }
}
