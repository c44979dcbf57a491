// SPDX-License-Identifier: MIT
import TargetKit

/// The stubs that a launch argument or an environment variable selects, for UI tests and previews.
///
/// The app reads the selection when it starts. Only a development build should link TargetKitTesting:
/// ```swift
/// #if canImport(TargetKitTesting)
/// let provider = Provider<Catalog>(transport: StubSelection().transport())
/// #else
/// let provider = Provider<Catalog>()
/// #endif
/// ```
/// A UI test launches the app with the argument:
/// ```swift
/// app.launchArguments += ["-TargetKitStubs", "scenario=empty cart"]
/// ```
/// In a preview, pass the text directly, for example `StubSelection(arguments: ["-TargetKitStubs", "immediate"])`.
///
/// | text | calls |
/// |---|---|
/// | `never` | use the network, as without a selection |
/// | `immediate` | return the targets' samples (`StubBehavior.immediate`) |
/// | `delayed=1.5` | return the samples after a number of seconds |
/// | `scenario=empty cart` | return the samples for the scenario (`StubBehavior.scenario`) |
/// | `cassette=/path/of/folder` | return the recorded responses in the folder, repeatedly (``CassetteTransport``) |
///
/// Any other text is reported on standard error, and every call then fails with a descriptive error, so that a
/// misspelled selection never reaches the network.
public struct StubSelection: Sendable {
    private enum Kind: Sendable {
        case stub(StubBehavior)
        case cassette(CassetteTransport)
        case invalid(StubError)
    }

    private let kind: Kind

    /// Creates the selection from the argument `-TargetKitStubs <text>`, or else from the environment variable
    /// `TARGETKIT_STUBS`. An empty variable selects nothing.
    ///
    /// - Parameters:
    ///   - arguments: The launch arguments; default: the process's arguments. The last selection counts.
    ///   - environment: The environment variables; default: the process's variables.
    public init(
        arguments: [String] = ProcessInfo.processInfo.arguments,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.init(arguments: arguments, environment: environment) { message in
            try? FileHandle.standardError.write(contentsOf: Data((message + "\n").utf8))
        }
    }

    package init(arguments: [String], environment: [String: String], report: (String) -> Void) {
        do throws(StubError) {
            kind = try Self.kind(arguments, environment: environment)
        } catch {
            report(error.description)
            kind = .invalid(error)
        }
    }

    /// The selected samples.
    package var behavior: StubBehavior {
        if case .stub(let behavior) = kind { behavior } else { .never }
    }

    /// Returns the transport for the provider, which returns the selected responses, or fails every call if the
    /// selection is invalid. If nothing is selected, returns the given transport.
    ///
    /// - Parameter transport: Sends the calls if nothing is selected; default: the system's transport.
    public func transport(_ transport: any Transport = SystemTransport.shared) -> any Transport {
        switch kind {
        case .stub(.never): transport
        case .stub(.immediate): StubTransport(routes: [.any: .targetSample])
        case .stub(.delayed(let delay)): StubTransport(routes: [.any: .targetSample.after(delay)])
        case .stub(.scenario(let name)): StubTransport(routes: [.any: .scenario(name)])
        case .cassette(let cassette): cassette
        case .invalid(let error): StubTransport(.failure(error))
        }
    }
}

extension StubSelection {
    private static let argument = "-TargetKitStubs"
    private static let variable = "TARGETKIT_STUBS"

    private static func kind(_ arguments: [String], environment: [String: String]) throws(StubError) -> Kind {
        if let index = arguments.lastIndex(of: argument) {
            let next = arguments.index(after: index)
            guard next < arguments.endIndex else {
                throw StubError("No value follows the argument \(argument).", lines: forms)
            }
            return try kind(arguments[next], from: "argument \(argument)")
        }
        guard let text = environment[variable], !text.isEmpty else { return .stub(.never) }
        return try kind(text, from: "environment variable \(variable)")
    }

    private static func kind(_ text: String, from source: String) throws(StubError) -> Kind {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count > 1 ? String(parts[1]) : nil
        switch (parts.first ?? "", value) {
        case ("never", nil): return .stub(.never)
        case ("immediate", nil): return .stub(.immediate)
        case ("delayed", let value?):
            guard let seconds = Double(value), seconds >= 0, seconds <= 86_400 else { break }
            return .stub(.delayed(.seconds(seconds)))
        case ("scenario", let name?) where !name.isEmpty: return .stub(.scenario(name))
        case ("cassette", let path?) where !path.isEmpty:
            let folder = URL(fileURLWithPath: path, isDirectory: true)
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), isFolder.boolValue else {
                throw StubError("The \(source) has the cassette \"\(path)\", which isn't a folder.")
            }
            return .cassette(CassetteTransport(.replay, folder: folder, repeats: true))
        default: break
        }
        throw StubError("The \(source) has the value \"\(text)\", which selects no stubs.", lines: forms)
    }

    private static let forms = [
        "It must be one of: never, immediate, delayed=<seconds>, scenario=<name>, cassette=<folder>."
    ]
}
