// SPDX-License-Identifier: MIT
import TargetKit

extension JSONDecoder.DateDecodingStrategy {
    /// Decodes dates in common formats, which are detected automatically.
    ///
    /// The formats are ISO 8601 with or without a fraction and time zone (`2024-05-06T07:08:09.5+02:00`,
    /// `2024-05-06 07:08:09`), the date alone (`2024-05-06`), RFC 1123 (`Mon, 06 May 2024 07:08:09 GMT`), and numbers
    /// or their text. A number is a day from 1800 to 2299 (`20240506`), a day with time (`20240506070809`), or else the
    /// seconds since 1970 or, from 10^11, the milliseconds. Other values cause a `DecodingError`.
    ///
    /// - Parameter timeZone: The time zone of times without one; default `nil`: UTC.
    public static func severalFormats(timeZone: TimeZone? = nil) -> Self {
        .custom { decoder in
            let container = try decoder.singleValueContainer()
            let date: Date?
            if let text = try? container.decode(String.self) {
                date = DateParser.date(text.trimmingCharacters(in: .whitespaces), zone: timeZone)
            } else {
                date = DateParser.date(of: try container.decode(Double.self), zone: timeZone)
            }
            guard let date else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "The date is in an unknown format."
                )
            }
            return date
        }
    }
}

extension BodyDecoder where Self == JSONDecoder {
    /// A decoder for servers with keys such as `user_name` and models with properties such as `userName`.
    ///
    /// - Parameters:
    ///   - dates: The format of dates; default: several formats.
    ///   - observer: A closure that is called for each value that lenient properties repair, with its key path and the
    ///     reason, but without the value; default: none.
    public static func snakeCase(
        dates: JSONDecoder.DateDecodingStrategy = .severalFormats(),
        observer: (@Sendable (_ repair: String) -> Void)? = nil
    ) -> JSONDecoder {
        let decoder = lenient(dates: dates, observer: observer)
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    /// A decoder that reads dates in several formats and reports what lenient properties repair.
    ///
    /// - Parameters:
    ///   - dates: The format of dates; default: several formats.
    ///   - observer: A closure that is called for each repair, with the value's key path and the reason, but without
    ///     the value. It is called on the decoding thread. Default: none.
    public static func lenient(
        dates: JSONDecoder.DateDecodingStrategy = .severalFormats(),
        observer: (@Sendable (_ repair: String) -> Void)? = nil
    ) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = dates
        if let observer { decoder.lenientObserver = { observer($0.description) } }
        return decoder
    }
}
