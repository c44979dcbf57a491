// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

extension CassetteTests {
    @Test(
        "A document that cannot be read fails each call, with the file and what is wrong",
        arguments: [
            ("", "is empty"), ("{\"version\":1,", "isn't valid JSON: "), ("[]", "isn't a JSON object"),
            ("{}", "has no numeric version"), (#"{"version":2}"#, "has version 2; this version"),
            (#"{"version":1,"request":{"url":"a"}}"#, "has no string request.method"),
            (#"{"version":1,"request":{"method":"GET","url":"a"}}"#, "has neither a response nor a failure"),
            (#"{"version":1,"request":{"method":"GET","url":"a"},"response":{"status":"x"}}"#, "no status code at"),
            (
                #"{"version":1,"request":{"method":"GET","url":"a","headers":["x"]},"failure":{"URLError":-1}}"#,
                "has no header field at request.headers.0"
            ),
            (
                #"{"version":1,"request":{"method":"GET","url":"a","body":"../x"},"failure":{"URLError":-1}}"#,
                "has no plain file name at request.body"
            ),
        ]
    )
    func corruptDocuments(_ text: String, _ problem: String) async throws {
        let file = try folder.file("001-GET.json", Data(text.utf8))
        for mode in [CassetteTransport.Mode.replay, .auto, .record] {
            let error = await #expect(throws: CassetteError.self) { try await send(TestCall(), cassette(mode)) }
            #expect(error?.description.hasPrefix(file.path) == true)
            #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
        }
        #expect(try contents() == ["001-GET.json": Data(text.utf8)])
    }

    @Test("A missing body, and one that is a link out of the folder, is an error")
    func bodies() async throws {
        _ = try await send(TestCall(), cassette(.record, counting()))
        let name = try #require(folder.names.first { $0.hasPrefix("001-GET.response") })
        let body = folder.url.appendingPathComponent(name)
        try FileManager.default.removeItem(at: body)
        let missing = await #expect(throws: CassetteError.self) { try await send(TestCall(), cassette(.replay)) }
        #expect(missing?.description.contains("\(name) doesn't exist") == true)
        let outside = try TemporaryFolder()
        let secret = try outside.file("secret", Data("secret".utf8))
        try FileManager.default.createSymbolicLink(at: body, withDestinationURL: secret)
        let link = await #expect(throws: CassetteError.self) { try await send(TestCall(), cassette(.replay)) }
        #expect(link?.description.contains("is a symbolic link") == true)
        // Recorded again, the link is replaced, not its destination.
        _ = try await send(TestCall(), cassette(.record, counting()))
        #expect(try Data(contentsOf: secret) == Data("secret".utf8))
        #expect(try await send(TestCall(), cassette(.replay)).text == "1")
    }

    @Test("Names have only letters, digits and hyphens, and never leave the folder")
    func names() async throws {
        let recording = cassette(.record, StubTransport(.response(status: 200, data: Data())))
        let long = String(repeating: "long/", count: 100)
        for path in ["/..%2F..%2Fetc/passwd", "/a b%00é".replacingOccurrences(of: " ", with: "%20"), "/" + long, "/"] {
            let url = try #require(
                URL(string: "https://shop.example" + path.replacingOccurrences(of: "é", with: "%C3%A9"))
            )
            _ = try await recording.send(TransportRequest(urlRequest: URLRequest(url: url)))
        }
        let names = folder.names.sorted()
        #expect(names.count == 4)
        #expect(names[0] == "001-GET-2F-2Fetc-passwd.json")
        #expect(names.allSatisfy { $0.count < 64 && !$0.contains("/") })
        #expect(try cassette(.replay).entries.count == 4)
    }

    @Test("A folder that cannot be written or read is named")
    func unusableFolder() async throws {
        let file = try folder.file("a")
        let inside = CassetteTransport(.record, folder: file.appendingPathComponent("b"), recording: counting())
        let error = await #expect(throws: CassetteError.self) { try await send(TestCall(), inside) }
        #expect(error?.description.contains(file.path) == true)
        let plain = CassetteTransport(.replay, folder: file, recording: counting())
        await #expect(throws: CassetteError.self) { try await send(TestCall(), plain) }
        let none = CassetteTransport(.replay, folder: folder.url.appendingPathComponent("none"), recording: counting())
        let empty = await #expect(throws: CassetteError.self) { try await send(TestCall(), none) }
        #expect(empty?.description.hasSuffix("; it is empty") == true)
    }

    @Test("Calls of several transports on one folder are all recorded, each under a number of its own")
    func concurrentRecording() async throws {
        let transport = counting()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                let recording = cassette(.auto, transport)
                for number in 0..<10 {
                    group.addTask {
                        _ = try await self.send(TestCall(path: "/\(writer)/\(number)"), recording)
                    }
                }
            }
            try await group.waitForAll()
        }
        let names = try cassette(.replay).entries.map(\.name)
        #expect(Set(names.map { $0.prefix(3) }).count == 40)
        #expect(folder.names.count == 80)
    }

    @Test("Identical calls at the same time get one entry each")
    func concurrentReplay() async throws {
        let recording = cassette(.record, counting())
        for _ in 0..<20 { _ = try await send(TestCall(), recording) }
        let replaying = cassette(.replay)
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await self.send(TestCall(), replaying).text } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(texts.count == 20)
    }

    @Test("A cassette of many entries is replayed, and a request without one finds the closest")
    func manyEntries() async throws {
        let count = Int(ProcessInfo.processInfo.environment["TARGETKIT_CASSETTE_ENTRIES"] ?? "") ?? 300
        let document =
            #"{"version":1,"request":{"method":"GET","url":"https://shop.example/NUMBER"},"response":{"status":200}}"#
        for number in 0..<count {
            let text = document.replacingOccurrences(of: "NUMBER", with: "\(number % (count / 2))")
            try Data(text.utf8).write(to: folder.url.appendingPathComponent("\(number + 1)-GET.json"))
        }
        let replaying = cassette(.replay)
        for number in 0..<count { _ = try await send(TestCall(path: "/\(number % (count / 2))"), replaying) }
        #expect(try replaying.unusedEntries.isEmpty)
        let error = await #expect(throws: CassetteError.self) { try await send(TestCall(path: "/x"), replaying) }
        #expect(error?.description.contains("the closest is") == true)
    }
}
