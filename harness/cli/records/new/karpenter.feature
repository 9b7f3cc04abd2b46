Feature: A machine whose Node is not ready yet is still the machine the pod waits for

  @SCENARIO-ID
  Scenario: A Node that needs two and a half minutes to become Ready
    Given a cluster without the admission plugin DefaultTolerationSeconds
    # Without another Ready Node, Kubernetes itself evicts nothing and taints nothing.
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 2m30s later
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    # A Then waits for a span of virtual time, which passes in seconds.
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And a pod of the Deployment "web" is Running within 5m
