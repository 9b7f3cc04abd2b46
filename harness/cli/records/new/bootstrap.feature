Feature: A Node that waits for its cloud controller manager is not launched twice

  @SCENARIO-ID
  Scenario: The cloud controller manager comes after 20 minutes
    Given a cluster
    # Without a type "cx11" some releases up to 1.31.0 do nothing at all.
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"
    # What cloud-init finds on a new server. A kubelet with these arguments taints its Node.
    And servers of the node groups boot with this user data:
      """
      #cloud-config
      runcmd:
      - echo "KUBELET_EXTRA_ARGS=--cloud-provider=external --provider-id=hcloud://$(curl -sf http://169.254.169.254/hetzner/v1/metadata/instance-id)" > /etc/default/kubelet
      - kubeadm join 10.0.0.2:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
      """
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    And the scenario waits for 20m
    # As a Given, "a cloud controller manager for the Hetzner Cloud" is there from the start.
    And a cloud controller manager for the Hetzner Cloud is deployed
    # A Then waits for a span of virtual time, which passes in seconds.
    Then the pod "web" is Running within 2m
    And 1m from now, exactly 1 server of the group "pool1" has been created since the start
