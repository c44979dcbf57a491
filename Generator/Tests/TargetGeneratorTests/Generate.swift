// SPDX-License-Identifier: MIT
import Foundation
import OpenAPIDocument

@testable import TargetGenerator

/// Generates a document whose members after `openapi` are given.
func generate(
    _ text: String,
    change: (inout GenerationOptions) -> Void = { _ in }
) throws -> TargetGenerator.Output {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".yaml")
    try Data(("openapi: 3.1.0\n" + text).utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var options = GenerationOptions(module: "Shop")
    change(&options)
    return try TargetGenerator(document: Document(contentsOf: file), options: options).generate()
}
