# https://github.com/kubernetes-sigs/kubespray/issues/12059
# Fixed by https://github.com/kubernetes-sigs/kubespray/pull/12141, first in v2.28.0.

@kubespray @bootstrap @vsphere @issue-12059
Feature: A hardened cluster on a cloud can be installed

  With cloud_provider: external every kubelet taints its Node until the cloud controller
  manager has initialised it. With kubelet_rotate_server_certificates every kubelet asks
  for its serving certificate, and an approver has to approve it. Neither may wait for the
  other.

  Background:
    Given a cluster that kubelets can join
    And a vSphere
    And these objects:
      """
      apiVersion: apps/v1
      kind: DaemonSet
      metadata: {name: agent}
      spec:
        selector: {matchLabels: {app: agent}}
        template:
          metadata: {labels: {app: agent}}
          spec:
            hostNetwork: true
            tolerations: [{operator: Exists}]
            containers: [{name: agent, image: example.org/agent}]
      """
    And the virtual machines "cp-1", "worker-1" and "worker-2", with their addresses for ADDRESS in this user data:
      """
      #cloud-config
      write_files:
      - path: /etc/default/kubelet
        content: |
          KUBELET_EXTRA_ARGS="--cloud-provider=external --node-ip=ADDRESS"
      - path: /var/lib/kubelet/config.yaml
        content: |
          apiVersion: kubelet.config.k8s.io/v1beta1
          kind: KubeletConfiguration
          authentication: {x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}}
          rotateCertificates: true
          serverTLSBootstrap: true
      runcmd:
      - kubeadm join 10.0.0.1:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
      """

  @bootstrap-12059-csr-approver
  Scenario: In the installer's own order
    When Kubespray installs the cluster's add-ons
    And a user asks for the logs of the DaemonSet "agent" and the metrics of every Node for 1m
    Then the installation has succeeded
    And every Node is initialized within 1m
    And every kubelet has its serving certificate within 1m
    And logs and metrics were served

  @bootstrap-12059-toleration
  Scenario: In the installer's own order, with an approver that tolerates the taint
    Given the Deployment "kubelet-csr-approver" tolerates the taint "node.cloudprovider.kubernetes.io/uninitialized"
    When Kubespray installs the cluster's add-ons
    And a user asks for the logs of the DaemonSet "agent" and the metrics of every Node for 1m
    Then the installation has succeeded
    And every Node is initialized within 1m
    And every kubelet has its serving certificate within 1m
    And logs and metrics were served
