# The server of docs/serve.md: docker build -t xscl . ; its token is the file /token, its state in /state.
FROM python:3.13-slim AS build
WORKDIR /src
# What .dockerignore leaves: all that a wheel is made of.
COPY . .
# Without pip, which nobody runs there.
RUN python -m venv --without-pip /opt/xscl && pip --python /opt/xscl/bin/python install --no-cache-dir '.[serve]'

FROM python:3.13-slim
RUN useradd --system --uid 1000 xscl && mkdir /state && chown xscl /state
COPY --from=build /opt/xscl /opt/xscl
USER xscl
VOLUME /state
EXPOSE 8765
HEALTHCHECK CMD ["/opt/xscl/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8765/health', timeout=3)"]
ENTRYPOINT ["/opt/xscl/bin/xscl", "serve", "--host", "0.0.0.0", "--token-file", "/token", "--state", "/state/state.duckdb"]
