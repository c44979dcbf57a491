// SPDX-License-Identifier: MIT
import Foundation

extension JSONDecoder.DateDecodingStrategy {
    /// Dates in any of the forms that servers use, each on its own merits; times without a zone are taken as UTC.
    ///
    /// ISO 8601 with or without fraction and zone (`2024-05-06T07:08:09.5+02:00`, `2024-05-06 07:08:09`), the date alone
    /// (`2024-05-06`), RFC 1123 (`Mon, 06 May 2024 07:08:09 GMT`), and numbers, also as text: a day from 1800 to 2299
    /// (`20240506`) or a day and its time (`20240506070809`), otherwise seconds since 1970 or, from 10^11 on,
    /// milliseconds. Anything else is a `DecodingError`.
    public static var severalFormats: Self { severalFormats(timeZone: nil) }

    /// Dates in the same forms.
    ///
    /// - Parameter timeZone: The zone of a time that names none; `nil` for UTC.
    public static func severalFormats(timeZone: TimeZone?) -> Self {
        .custom { decoder in
            let container = try decoder.singleValueContainer()
            let date: Date?
            if let text = try? container.decode(String.self) {
                date = DateText.date(text.trimmingCharacters(in: .whitespaces), zone: timeZone)
            } else {
                date = DateText.date(of: try container.decode(Double.self), zone: timeZone)
            }
            guard let date else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "No date in a form that is known."
                )
            }
            return date
        }
    }
}

extension JSONDecoder {
    /// A decoder for servers that name things `user_name` where the model says `userName`.
    ///
    /// - Parameters:
    ///   - dates: How dates are read; default: in several formats.
    ///   - observer: Who hears what lenient properties mend; default: nobody.
    public static func snakeCase(
        dates: DateDecodingStrategy = .severalFormats,
        observer: LenientObserver? = nil
    ) -> JSONDecoder {
        let decoder = lenient(dates: dates, observer: observer)
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    /// A decoder that reads dates in several formats and tells an observer what lenient properties mend.
    ///
    /// - Parameters:
    ///   - dates: How dates are read; default: in several formats.
    ///   - observer: Who hears of repairs; default: nobody.
    public static func lenient(
        dates: DateDecodingStrategy = .severalFormats,
        observer: LenientObserver? = nil
    ) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = dates
        decoder.lenientObserver = observer
        return decoder
    }
}
