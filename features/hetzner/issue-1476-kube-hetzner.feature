# https://github.com/mysticaltech/terraform-hcloud-kube-hetzner/issues/1476

@cluster-autoscaler @hetzner @issue-1476 @manifest
Feature: A node group that kube-hetzner declares has its minimum size

  The same as in issue-1476-min-size.feature, with a Deployment in the shape of
  kube-hetzner's: k3s, settings in the environment, all in a secret or in base64.

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a network, a firewall and an SSH key "k3s"
    And a Ready Node "k3s-control-plane" on a server of the project
    # HCLOUD_CLOUD_INIT is cloud-init for a k3s agent with cloud-provider=external.
    # HCLOUD_CLUSTER_CONFIG has it again for the group, with images and a label.
    And this manifest:
      """yaml
      apiVersion: v1
      kind: Secret
      metadata: {name: hcloud, namespace: kube-system}
      stringData: {token: replaced-by-the-world, network: k3s}
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: cluster-autoscaler, namespace: kube-system}
      spec:
        selector: {matchLabels: {app: cluster-autoscaler}}
        template:
          metadata: {labels: {app: cluster-autoscaler}}
          spec:
            serviceAccountName: cluster-autoscaler
            containers:
              - name: cluster-autoscaler
                image: registry.example.org/autoscaling/cluster-autoscaler:v1.33.0
                command:
                  - ./cluster-autoscaler
                  - --v=5
                  - --cloud-provider=hetzner
                  - --nodes=3:5:cax11:fsn1:k3s-autoscaled-egress
                env:
                  - name: HCLOUD_TOKEN
                    valueFrom: {secretKeyRef: {name: hcloud, key: token}}
                  - name: HCLOUD_CLOUD_INIT
                    value: I2Nsb3VkLWNvbmZpZwp3cml0ZV9maWxlczoKICAtIHBhdGg6IC9ldGMvcmFuY2hlci9rM3MvY29uZmlnLnlhbWwKICAgIGNvbnRlbnQ6IHwKICAgICAgc2VydmVyOiBodHRwczovLzEwLjAuMC4yOjY0NDMKICAgICAgdG9rZW46IG5vZGVzdG9ybQogICAgICBrdWJlbGV0LWFyZzogWyJjbG91ZC1wcm92aWRlcj1leHRlcm5hbCJdCnJ1bmNtZDoKICAtIGN1cmwgLXNmTCBodHRwczovL2dldC5rM3MuaW8gfCBJTlNUQUxMX0szU19FWEVDPWFnZW50IHNoIC0K
                  - name: HCLOUD_CLUSTER_CONFIG
                    value: eyJpbWFnZXNGb3JBcmNoIjp7ImFybTY0IjoidWJ1bnR1LTI0LjA0IiwiYW1kNjQiOiJ1YnVudHUtMjQuMDQifSwibm9kZUNvbmZpZ3MiOnsiazNzLWF1dG9zY2FsZWQtZWdyZXNzIjp7ImNsb3VkSW5pdCI6IiNjbG91ZC1jb25maWdcbndyaXRlX2ZpbGVzOlxuICAtIHBhdGg6IC9ldGMvcmFuY2hlci9rM3MvY29uZmlnLnlhbWxcbiAgICBjb250ZW50OiB8XG4gICAgICBzZXJ2ZXI6IGh0dHBzOi8vMTAuMC4wLjI6NjQ0M1xuICAgICAgdG9rZW46IG5vZGVzdG9ybVxuICAgICAga3ViZWxldC1hcmc6IFtcImNsb3VkLXByb3ZpZGVyPWV4dGVybmFsXCJdXG5ydW5jbWQ6XG4gIC0gY3VybCAtc2ZMIGh0dHBzOi8vZ2V0Lmszcy5pbyB8IElOU1RBTExfSzNTX0VYRUM9YWdlbnQgc2ggLVxuIiwibGFiZWxzIjp7InJvbGUiOiJlZ3Jlc3MifSwidGFpbnRzIjpbXX19fQ==
                  - {name: HCLOUD_SSH_KEY, value: k3s}
                  - {name: HCLOUD_IMAGE, value: ubuntu-24.04}
                  - name: HCLOUD_NETWORK
                    valueFrom: {secretKeyRef: {name: hcloud, key: network}}
                  - {name: HCLOUD_FIREWALL, value: k3s}
                  - {name: HCLOUD_SERVER_CREATION_TIMEOUT, value: "15"}
                volumeMounts:
                  - {name: ssl-certs, mountPath: /etc/ssl/certs}
            volumes:
              - name: ssl-certs
                hostPath: {path: /etc/ssl/certs}
      """

  @hetzner-1476-kube-hetzner-ignored
  Scenario: As kube-hetzner has it
    Given Cluster Autoscaler
    Then at least 3 servers of the group "k3s-autoscaled-egress" are created within 5m

  @hetzner-1476-kube-hetzner-enforced
  Scenario: With --enforce-node-group-min-size as well
    Given Cluster Autoscaler with the flags:
      | --enforce-node-group-min-size | true |
    Then at least 3 servers of the group "k3s-autoscaled-egress" are created within 5m
