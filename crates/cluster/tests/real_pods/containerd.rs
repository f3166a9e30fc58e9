//! A containerd for one test, with a pod network and an image made of busybox.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The image of pods and of sandboxes.
pub(crate) const IMAGE: &str = "gantry.test/busybox:1";
const PLUGINS: &str = "/usr/lib/cni";
/// How long containerd may take to start.
const START_MAX: Duration = Duration::from_secs(30);

/// A running containerd; dropping it stops it and removes its files.
pub(crate) struct Containerd {
    pub(crate) directory: PathBuf,
    /// The prefix of the addresses of pods.
    pub(crate) network: String,
    bridge: String,
    process: Child,
}

impl Containerd {
    /// Starts it; the error names what is missing on this machine. Each test has its own number, below 10.
    pub(crate) fn start(number: u8) -> Result<Self, String> {
        require_root()?;
        for program in ["containerd", "ctr", "runc", "busybox", "tar", "sha256sum"] {
            if !is_on_path(program) {
                return Err(format!("there is no {program}"));
            }
        }
        if !Path::new(PLUGINS).join("bridge").exists() {
            return Err(format!("there are no CNI plugins in {PLUGINS}"));
        }
        let directory =
            std::env::temp_dir().join(format!("gantry-real-pods-{}-{number}", std::process::id()));
        let (network, bridge) = (format!("10.231.{}.", 70 + number), format!("gantry-test{number}"));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(directory.join("net")).unwrap();
        fs::write(directory.join("net/10-test.conflist"), cni(&bridge, &network)).unwrap();
        fs::write(directory.join("config.toml"), configuration(&directory)).unwrap();
        let process = spawn(&directory)?;
        let containerd = Self { directory, network, bridge, process };
        containerd.until_started()?;
        let image = containerd.make_image();
        containerd
            .ctr(&["-n", "k8s.io", "images", "import", &image])
            .ok_or("the image cannot be imported")?;
        Ok(containerd)
    }

    fn until_started(&self) -> Result<(), String> {
        let deadline = Instant::now() + START_MAX;
        while self.ctr(&["version"]).is_none() {
            if Instant::now() > deadline {
                return Err("containerd does not start here".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Kills it; containers keep running.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again after it was killed.
    pub(crate) fn start_again(&mut self) {
        self.process = spawn(&self.directory).unwrap();
        self.until_started().unwrap();
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.join("containerd.sock")
    }

    /// Returns the name under which the node of the test keeps its pods' files, cgroups and routes.
    pub(crate) fn node_owner(&self) -> String {
        let mut owners = fs::read_dir(self.directory.join("node")).unwrap();
        owners.next().unwrap().unwrap().file_name().to_string_lossy().into_owned()
    }

    /// Returns the IDs of all containers, those of sandboxes included.
    pub(crate) fn containers(&self) -> Vec<String> {
        let list = self.ctr(&["-n", "k8s.io", "containers", "ls", "-q"]).unwrap();
        list.lines().map(str::to_owned).collect()
    }

    fn ctr(&self, arguments: &[&str]) -> Option<String> {
        let output = Command::new("ctr").arg("-a").arg(self.socket()).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Makes an image of the machine's busybox, in Docker's format.
    fn make_image(&self) -> String {
        let (root, image) = (self.directory.join("rootfs"), self.directory.join("image"));
        for directory in ["bin", "tmp", "etc", "dev", "proc", "sys"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::create_dir_all(&image).unwrap();
        let busybox = run(Command::new("sh").args(["-c", "command -v busybox"]));
        fs::copy(busybox.trim(), root.join("bin/busybox")).unwrap();
        std::os::unix::fs::symlink("busybox", root.join("bin/sh")).unwrap();
        let layer = image.join("layer.tar");
        run(Command::new("tar").arg("-C").arg(&root).arg("-cf").arg(&layer).arg("."));
        let sum = run(Command::new("sha256sum").arg(&layer));
        let sum = sum.split(' ').next().unwrap_or_default();
        let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
        let config = format!(
            r#"{{"architecture":"{machine}","os":"linux","config":{{"Entrypoint":["/bin/busybox","sleep","1000000"]}},"rootfs":{{"type":"layers","diff_ids":["sha256:{sum}"]}}}}"#
        );
        fs::write(image.join("config.json"), config).unwrap();
        let manifest =
            format!(r#"[{{"Config":"config.json","RepoTags":["{IMAGE}"],"Layers":["layer.tar"]}}]"#);
        fs::write(image.join("manifest.json"), manifest).unwrap();
        let file = self.directory.join("image.tar");
        run(Command::new("tar").arg("-C").arg(&image).arg("-cf").arg(&file).arg("."));
        file.to_string_lossy().into_owned()
    }
}

impl Drop for Containerd {
    fn drop(&mut self) {
        // Containers that remain after a failed test.
        for id in self.containers() {
            let _ = self.ctr(&["-n", "k8s.io", "tasks", "kill", "-s", "9", &id]);
            let _ = self.ctr(&["-n", "k8s.io", "tasks", "rm", "-f", &id]);
            let _ = self.ctr(&["-n", "k8s.io", "containers", "rm", &id]);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = Command::new("ip").args(["link", "del", &self.bridge]).output();
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let own = self.directory.to_string_lossy().into_owned();
        for point in
            mounts.lines().filter_map(|line| line.split(' ').nth(1)).filter(|it| it.starts_with(&own))
        {
            let _ = Command::new("umount").args(["-l", point]).output();
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn spawn(directory: &Path) -> Result<Child, String> {
    let log = fs::File::options().create(true).append(true).open(directory.join("containerd.log")).unwrap();
    Command::new("containerd")
        .arg("-c")
        .arg(directory.join("config.toml"))
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .map_err(|error| format!("containerd cannot be started: {error}"))
}

fn require_root() -> Result<(), String> {
    let user = run(Command::new("id").arg("-u"));
    if user.trim() == "0" { Ok(()) } else { Err("the test does not run as root".to_owned()) }
}

fn is_on_path(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    found.is_ok_and(|output| output.status.success())
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn cni(bridge: &str, network: &str) -> String {
    format!(
        r#"{{"cniVersion":"0.4.0","name":"{bridge}","plugins":[{{"type":"bridge","bridge":"{bridge}","isGateway":true,"hairpinMode":true,"ipam":{{"type":"host-local","ranges":[[{{"subnet":"{network}0/24"}}]],"routes":[{{"dst":"0.0.0.0/0"}}]}}}},{{"type":"loopback"}}]}}"#
    )
}

fn configuration(directory: &Path) -> String {
    let at = |name: &str| directory.join(name).to_string_lossy().into_owned();
    // Without the permission to lower it, containers start only if the adjustment of the OOM score is restricted.
    format!(
        r#"version = 2
root = "{root}"
state = "{state}"
[grpc]
address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{IMAGE}"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{PLUGINS}"
conf_dir = "{net}"
"#,
        root = at("root"),
        state = at("state"),
        socket = at("containerd.sock"),
        net = at("net"),
    )
}
