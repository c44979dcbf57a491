// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Pictures.
package enum Media: ShopTarget {
    case upload(Picture, caption: String)

    package var route: Route {
        switch self {
        case .upload(let picture, let caption):
            .post("/media/pictures", .multipart(form(picture, caption)))
        }
    }

    private func form(_ picture: Picture, _ caption: String) -> MultipartForm {
        [
            .text(caption, name: "caption"),
            .data(picture.png, name: "picture", fileName: picture.fileName),
        ]
    }

    package var sampleData: Data {
        Data(
            #"""
            {"caption":"Tea","fileName":"cup.png","contentType":"image/png","bytes":107,"width":16,"height":16}
            """#.utf8
        )
    }

    package var sampleResponse: SampleResponse { .response(status: 201, data: sampleData) }
}
