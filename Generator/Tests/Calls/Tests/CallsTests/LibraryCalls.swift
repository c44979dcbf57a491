// SPDX-License-Identifier: MIT
import Foundation
import Library
import TargetKit
import TargetKitTesting
import Testing

@Suite("The library reads what its targets send", .needsServers)
struct LibraryCalls {
    /// A provider for each type of call.
    private var library: Provider<MultiTarget> { FastAPIServers.shared.provider(at: "library") }

    private let until = CalendarDate(rawValue: "2026-02-28")

    @Test("Pages of books, with a cursor that is null on the last one")
    func lists() async throws {
        let first = try await library.request(ListBooks())
        #expect(first.items.map(\.title) == ["Book 0", "Book 1"] && first.next == "second")
        let last = try await library.request(ListBooks(cursor: first.next, size: 1))
        #expect(last.items.map(\.title) == ["Book 1"] && last.next == nil)
    }

    @Test("A list as a body, and a model with an URL and a reserved word")
    func books() async throws {
        let books = [Book(isbn: "9780140449136", title: "“The Odyssey”", shelf: .travelMaps)]
        let added = try await library.request(AddBooks(body: books))
        #expect(added.map(\.title) == ["“The Odyssey”"] && added.map(\.shelf) == [.travelMaps])
        let book = try await library.request(GetBook(isbn: "9780140449136"))
        #expect(book.link == URL(string: "https://library.example/odyssey?page=1") && book.selfValue == "me")
        #expect(try await library.request(HasBook(isbn: "9780140449136")).statusCode == 200)
    }

    @Test("A documented error with a body, and one without")
    func errors() async throws {
        let gone = await #expect(throws: TargetKitError.self) {
            try await library.request(GetBook(isbn: "1780140449136"))
        }
        #expect((gone?.appError as? Gone) == Gone(reason: "water", since: CalendarDate(rawValue: "2025-01-31")))
        let unknown = await #expect(throws: TargetKitError.self) {
            try await library.request(GetBook(isbn: "0780140449136"))
        }
        #expect(unknown?.response?.statusCode == 404 && unknown?.appError == nil)
    }

    @Test("Dates with fractions and offsets, days, times and bytes in base64")
    func formats() async throws {
        let event = Event(
            at: Date(timeIntervalSince1970: 1_700_000_000.5),
            day: until,
            opens: "09:30:00",
            lasts: "PT1H30M"
        )
        #expect(try await library.request(EchoEvent(body: event)) == event)
        let sealed = try await library.request(EchoSealed(body: Sealed(name: "x", content: Data([0, 1, 255]))))
        #expect(sealed == Sealed(name: "x", content: Data([255, 1, 0])))
    }

    @Test("A form of fields, with a list and a name that need escapes")
    func lends() async throws {
        let form = BodyLend(reader: "Anna & “Bo”", books: ["a=b", "c+d"], until: until, renew: true, shelf: .selfHelp)
        let loan = try await library.request(Lend(body: form))
        #expect(loan == Loan(reader: form.reader, books: form.books, until: until, renew: true, shelf: .selfHelp))
        let few = try await library.request(Lend(body: BodyLend(reader: "x", books: ["y"], until: until)))
        #expect(few == Loan(reader: "x", books: ["y"], until: until, renew: false, shelf: nil))
    }

    @Test("Files of a form, in memory and on disk")
    func uploads() async throws {
        let bytes = Data((0..<100_000).map { UInt8($0 % 251) })
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).png")
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let cover = try await library.request(
            AddCover(body: AddCoverForm(title: "Übersicht", file: .file(file), page: 3))
        )
        #expect(cover.title == "Übersicht" && cover.page == 3 && cover.file.size == bytes.count)
        #expect(cover.file.name == file.lastPathComponent && cover.file.type == "image/png")
        let small = FileUpload.data(Data("tea".utf8), fileName: "tea.txt", mimeType: "text/plain")
        let scans = try await library.request(AddScans(body: AddScansForm(files: [small, .file(file)], note: "n")))
        #expect(scans.note == "n" && scans.files.map(\.size) == [3, bytes.count])
        let sha256 = "a9f74d1ec36ebdeb2da3f6e5868090cd2a2d20b3dcca7b62f60304b1d3d9ef42"
        #expect(scans.files.first == FileEcho(name: "tea.txt", type: "text/plain", size: 3, sha256: sha256))
        let sizes = try await library.request(AddThumbnail(body: AddThumbnailForm(small: small)))
        #expect(sizes == ["small": 3, "large": 0])
    }

    @Test("Text and bytes as bodies and as responses")
    func content() async throws {
        let note = try await library.request(EchoNote(body: "grüße\n2"))
        #expect(try note.string() == "grüße\n2")
        let blob = try await library.request(EchoBlob(name: "ab c", body: Data([0, 13, 10, 255])))
        #expect(blob.data == Data([0, 13, 10, 255]) && blob.headers["X-Size"] == "4")
        let picture = try await library.request(GetCover(number: 1))
        #expect(picture.headers["Content-Type"] == "image/png" && picture.data.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        let catalogue = try await library.request(GetCatalogue())
        #expect(try catalogue.string().hasPrefix("isbn,title\n"))
        #expect(try await library.request(GetSummary()) == ["books": 2])
        #expect(try await library.request(GetFile(path: "x y")) == ["path": "x y"])
    }

    @Test("A JSON body has the media type of the document")
    func mergePatch() async throws {
        let book = Book(isbn: "9780140449136", title: "x")
        let echo = try await library.request(MergeBook(body: book))
        #expect(echo["type"] == "application/merge-patch+json")
        #expect(try JSONDecoder().decode(Book.self, from: Data((echo["body"] ?? "").utf8)) == book)
    }
}
