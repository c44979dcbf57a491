mkdir -p server/products
echo '{"id":7,"name":"Green tea"}' > server/products/7
python3 -m http.server 8000 --bind 127.0.0.1 --directory server
