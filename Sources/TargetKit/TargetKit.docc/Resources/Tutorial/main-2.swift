import TargetKit

let provider = Provider<Shop>()
do throws(TargetKitError) {
    let product = try await provider.request(.product(id: 7), as: Product.self)
    print(product.name)
} catch {
    print(error)
    print(error.text(.summary))
}
