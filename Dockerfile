# An image with lgl-bench and its report, on the CPU:
#   docker build -t lgl-bench .
#   docker run --rm -v "$PWD:/home/bench" lgl-bench run --suite smoke --budget smoke
FROM python:3.11-slim
COPY . /opt/lgl-bench
WORKDIR /opt/lgl-bench
RUN pip install --no-cache-dir -c constraints.txt -e '.[report]'
ENV LGL_BENCH_DATA=/home/bench/data
WORKDIR /home/bench
ENTRYPOINT ["lgl-bench"]
